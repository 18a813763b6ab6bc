"""Running with a cycle collector that leaves alone what lives as long as the run does."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

NEW_OBJECTS = 5_000
"""New objects after which the collector looks through them: by Python's own number it would after every 25 cells."""


@contextmanager
def collection_of_new() -> Iterator[None]:
    """Keep the collector from walking modules and suite again and again, and from coming for every few cells.

    Changes the whole process, so that only whoever owns the process may use it.
    """
    before = gc.get_threshold()
    gc.freeze()
    gc.set_threshold(NEW_OBJECTS, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)
        gc.unfreeze()
