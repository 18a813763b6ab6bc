#!/bin/sh
cat > /dev/null
printf '{"output": "%s"}\n' "$(cat facts/hours.txt)"
