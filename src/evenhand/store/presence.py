"""Which runs go on at this moment: a file for each, locked by the process that writes the run.

The system gives the lock up when the process ends, however it ends. So a run that was killed is known from one of which
nothing has come for a while.
"""

from __future__ import annotations

import contextlib
import os
import weakref
from pathlib import Path

HAS_LOCKS = os.name == "posix"
"""Whether the system has locks that it gives up by itself."""
FOLDER_NAME = "running"
_ATTEMPTS = 5
_FLAGS = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)


class Presence:
    """Says that this process writes a run, until `end` or the end of the process. Failing to say so is no failure."""

    def __init__(self, store: Path, run_id: str) -> None:
        self._path = _path(store, run_id)
        self._close = None
        if not HAS_LOCKS:
            return
        import fcntl

        with contextlib.suppress(OSError):
            file = self._opened()
            self._close = weakref.finalize(self, os.close, file)
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _opened(self) -> int:
        """The file; its folder may be removed at this moment by a run that ends."""
        for _ in range(_ATTEMPTS):
            with contextlib.suppress(FileNotFoundError):
                self._path.parent.mkdir(exist_ok=True)
                return os.open(self._path, _FLAGS, 0o600)
        raise FileNotFoundError(self._path)

    def end(self) -> None:
        """Say it no longer."""
        if self._close is not None and self._close.alive:
            with contextlib.suppress(OSError):
                self._path.unlink()
                self._path.parent.rmdir()
            self._close()


def goes_on(store: Path | None, run_id: str) -> bool | None:
    """Whether a process writes the run at this moment; None where nobody can know."""
    if store is None or not HAS_LOCKS:
        return None
    import fcntl

    try:
        file = os.open(_path(store, run_id), os.O_RDONLY | getattr(os, "O_CLOEXEC", 0))
    except FileNotFoundError:
        return False
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return None
    finally:
        os.close(file)
    return False


def _path(store: Path, run_id: str) -> Path:
    return store.parent / FOLDER_NAME / run_id
