"""Adds up an invoice, to the cent."""

import json
import sys

items = json.load(sys.stdin)["vars"]["items"]
print(json.dumps({"output": json.dumps({"total": round(sum(items), 2), "lines": len(items)})}))
