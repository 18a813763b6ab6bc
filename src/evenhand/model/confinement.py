"""What a suite may reach: folders, programs, hosts. The one place that states it, for loading and for running."""

from __future__ import annotations

from pathlib import Path

import msgspec


class Confinement(msgspec.Struct, frozen=True, kw_only=True):
    """The limits of one suite.

    Outside a sandbox, only folders are limited. In one, the suite comes from a stranger: programs and Python do not
    run, scripts in files only with `scripts`, and calls go to the vendors' own hosts and to `hosts`.
    """

    directory: Path
    """The suite's folder."""
    code_roots: tuple[Path, ...] = ()
    """Folders that code may be loaded from, the widest last, symbolic links resolved; without any, the suite's own."""
    is_sandbox: bool = False
    scripts: bool = False
    """Whether scripts in files may run in a sandbox, under the permissions of Node.js."""
    hosts: tuple[str, ...] = ()
    """Further hosts that a sandbox may call: `name` for the usual port of the scheme, or `name:port`."""
    variables: tuple[str, ...] = ()
    """Environment variables that a sandbox may see and send."""

    @property
    def code_area(self) -> Path:
        """The folder around all code of the suite."""
        own = self.directory.resolve()
        return next((root for root in reversed(self.code_roots) if own.is_relative_to(root)), own)

    def holds(self, file: Path) -> bool:
        """Whether code may be loaded from a file."""
        roots = self.code_roots or (self.directory.resolve(),)
        real = file.resolve()
        return any(real.is_relative_to(root) for root in roots)
