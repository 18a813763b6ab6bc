#!/bin/sh
# Finds the answer on its standard input.
if grep -q 'Rome'; then
  echo '{"pass": true, "reason": "names the city"}'
else
  echo '{"pass": false, "reason": "names no city"}'
fi
