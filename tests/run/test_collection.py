"""The cycle collector during a run."""

from __future__ import annotations

import gc
import subprocess
import sys

from evenhand.run.collection import NEW_OBJECTS, collection_of_new

CYCLES = """
import gc, weakref
from evenhand.run.collection import NEW_OBJECTS, collection_of_new

class Loop:
    def __init__(self):
        self.itself = self

with collection_of_new():
    assert gc.get_freeze_count() > 1_000
    seen = weakref.ref(Loop())
    made = [Loop() for _ in range(2 * NEW_OBJECTS)]
    assert seen() is None
"""


def test_garbage_of_a_run_is_still_collected() -> None:
    subprocess.run([sys.executable, "-c", CYCLES], check=True)


def test_collector_is_as_before_afterwards() -> None:
    before = gc.get_threshold()
    with collection_of_new():
        assert gc.get_threshold()[0] == NEW_OBJECTS
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
