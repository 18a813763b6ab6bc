#!/bin/sh
# Answers one question, and says in calls.txt that it was called.
cat > /dev/null
echo called >> calls.txt
echo '{"output": "The capital is Rome."}'
