"""Prints one case per line, as many as the suite's `config` asks for."""

import json
import sys

for n in range(json.load(sys.stdin)["config"]["count"]):
    check = {"type": "contains", "value": f"= {n + 10}"}
    print(json.dumps({"id": f"sum-{n}", "vars": {"a": n, "b": 10}, "assert": [check]}))
