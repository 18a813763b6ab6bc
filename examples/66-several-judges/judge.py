"""A judge of brevity: passes answers of at most so many characters."""

import json
import re
import sys

limit = int(sys.argv[1])
message = json.load(sys.stdin)["prompt"]["messages"][-1]["content"]
# The material stands between marked lines.
answer = re.search(r"BEGIN ANSWER (\w+)\n(.*)\nEND ANSWER \1", message, re.DOTALL)[2]
verdict = {
    "reasoning": f"{len(answer)} characters, at most {limit} wanted",
    "pass": len(answer) <= limit,
    "score": 0.9 if len(answer) <= limit else 0.1,
}
json.dump({"output": verdict}, sys.stdout)
