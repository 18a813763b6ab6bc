"""Answers every second time that it is started; its memory is a file in a temporary folder."""

import json
import os
import sys
import tempfile
from pathlib import Path

json.load(sys.stdin)
mark = Path(tempfile.gettempdir()) / f"evenhand-example-flaky-{os.getppid()}"
if mark.exists():
    mark.unlink()
    json.dump({"output": "hello at last"}, sys.stdout)
else:
    mark.touch()
    json.dump({"output": None, "error": {"message": "warming up", "retriable": True}}, sys.stdout)
