"""Checks that the total is the sum of the items that the case lists."""

import json
import sys

asked = json.load(sys.stdin)
invoice = json.loads(asked["output"])
items, config = asked["vars"]["items"], asked["config"]
difference = abs(invoice["total"] - sum(items))
right = difference <= config["tolerance"] and invoice["lines"] >= config.get("least", 0)
print(
    json.dumps(
        {"pass": right, "reason": f"the total is off by {difference:.4f}, with {invoice['lines']} lines"}
    )
)
