"""Limits on a worker process that its parent sets, since its engine keeps none on buffers."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path

if sys.platform == "linux":
    import resource

    def limit_memory(pid: int, beyond: int) -> None:
        """Let a process take `beyond` bytes more than it holds now, and leave no image of its memory when it dies.

        A process that is gone, or that belongs to somebody else, is left alone.
        """
        with contextlib.suppress(OSError, ValueError, IndexError):
            pages = Path(f"/proc/{pid}/statm").read_text(encoding="ascii").split()[5]
            hard = resource.prlimit(pid, resource.RLIMIT_DATA)[1]
            wanted = int(pages) * resource.getpagesize() + beyond
            limit = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
            resource.prlimit(pid, resource.RLIMIT_DATA, (limit, limit))
            resource.prlimit(pid, resource.RLIMIT_CORE, (0, 0))

else:

    def limit_memory(pid: int, beyond: int) -> None:
        """Other systems have no limit that one process can set for another."""
