"""A limit on the memory that a Python check may take beyond what its process holds already."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path

MEMORY_LIMIT = 64 * 1024 * 1024
"""Bytes that a check may take beside what it is given."""

if sys.platform == "linux":
    import resource

    @contextlib.contextmanager
    def memory_limited(given: int) -> Iterator[None]:
        """Let allocations fail with MemoryError beyond the limit; `given` bytes are allowed on top of it."""
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        limit = _data_bytes() + MEMORY_LIMIT + given
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
        try:
            yield
        finally:
            resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))

    def _data_bytes() -> int:
        fields = Path("/proc/self/statm").read_text(encoding="ascii").split()
        return int(fields[5]) * resource.getpagesize()

else:

    @contextlib.contextmanager
    def memory_limited(given: int) -> Iterator[None]:  # noqa: ARG001
        """Other systems have no limit that a process can set for itself and lift again."""
        yield
