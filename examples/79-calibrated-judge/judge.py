"""A judge of brevity: passes answers of at most 40 characters."""

import json
import re
import sys

message = json.load(sys.stdin)["prompt"]["messages"][-1]["content"]
# The material stands between marked lines.
answer = re.search(r"BEGIN ANSWER (\w+)\n(.*)\nEND ANSWER \1", message, re.DOTALL)[2]
short = len(answer) <= 40
verdict = {"reasoning": f"{len(answer)} characters", "pass": short, "score": 0.9 if short else 0.1}
json.dump({"output": verdict}, sys.stdout)
