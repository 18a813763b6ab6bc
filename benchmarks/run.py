"""`make bench`: start-up, own cost per cell, and with --full a million cells."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.calls import calls
from benchmarks.measure import Measured, best_of, measure
from benchmarks.suites import QUIET, SCRIPTS, write_script_suite, write_single, write_suite


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--full", action="store_true", help="also run a million cells")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        start_up(folder)
        own_cost(folder)
        script_cost(folder)
        calls(folder, cells=20_000 if options.full else 5_000)
        comparison(folder, cells=100_000 if options.full else 10_000)
        scale(folder, sizes=(10_000, 100_000, 1_000_000) if options.full else (10_000, 50_000))


def start_up(folder: Path) -> None:
    print("start-up, best of 7", flush=True)
    single = write_single(folder / "single")
    for name, arguments in (("--version", ["--version"]), ("--help", ["--help"]), ("run, one case", QUIET)):
        print(f"  {name:<16} {best_of(7, arguments, cwd=single).seconds * 1_000:7.0f} ms", flush=True)


def own_cost(folder: Path) -> None:
    """The difference between two sizes, so that start-up is not counted."""
    print("own cost per cell, five assertions, stored, best of 3", flush=True)
    for provider in ("echo", "async function", "plain function"):
        for size in (200, 2_000):
            seconds = []
            for cases in (1_000, 11_000):
                name = f"{provider} {size} {cases}".replace(" ", "-")
                suite = write_suite(folder / name, provider=provider, cases=cases, output_bytes=size)
                seconds.append(best_of(3, QUIET, cwd=suite).seconds)
            cost_ms = (seconds[1] - seconds[0]) / 10_000 * 1_000
            print(f"  {provider:<16} {size:5} B {cost_ms:7.3f} ms", flush=True)


def script_cost(folder: Path) -> None:
    """What a script assertion adds to a cell: the difference between two sizes, less that of the suite without it.

    Processor time, that of the workers included, tells more than seconds where others use the machine too.
    """
    print("script assertions, 2 KB of output, 20 vars, best of 3", flush=True)
    plain: tuple[float, float] | None = None
    for scripts in SCRIPTS:
        few, many = (_script_runs(folder, scripts, cases) for cases in (500, 3_500))
        seconds = min(run.seconds for run in many) - min(run.seconds for run in few)
        cpu_seconds = min(run.cpu_seconds for run in many) - min(run.cpu_seconds for run in few)
        each = seconds / 3_000 * 1_000, cpu_seconds / 3_000 * 1_000
        plain = plain or each
        added = (
            f"   adds {each[0] - plain[0]:6.3f} ms, {each[1] - plain[1]:6.3f} of processor"
            if SCRIPTS[scripts]
            else ""
        )
        print(f"  {scripts:<24} {each[0]:7.3f} ms a cell, {each[1]:6.3f} of processor{added}", flush=True)


def _script_runs(folder: Path, scripts: str, cases: int) -> list[Measured]:
    suite = write_script_suite(folder / f"{scripts}-{cases}".replace(" ", "-"), scripts=scripts, cases=cases)
    return [measure(QUIET, cwd=suite) for _ in range(3)]


def comparison(folder: Path, *, cells: int) -> None:
    """Two stored runs side by side, and the answers of one judged again."""
    suite = write_suite(folder / "comparison", provider="echo", cases=cells, output_bytes=200)
    for _ in range(2):
        measure(QUIET, cwd=suite)
    print(f"two runs of {cells:,} cells", flush=True)
    for arguments in (["diff", "latest", "--diffs", "none"], ["rescore"]):
        found = measure(arguments, cwd=suite)
        print(f"  {arguments[0]:<16} {found.seconds:8.1f} s {found.peak_mb:6.0f} MB peak", flush=True)


def scale(folder: Path, *, sizes: tuple[int, ...]) -> None:
    print("growth, echo, 200 B", flush=True)
    for cases in sizes:
        suite = write_suite(folder / f"scale-{cases}", provider="echo", cases=cases, output_bytes=200)
        found = measure(QUIET, cwd=suite)
        each = found.seconds / cases * 1_000
        print(
            f"  {cases:9} cells {found.seconds:8.1f} s {each:7.3f} ms each {found.peak_mb:6.0f} MB peak",
            flush=True,
        )


if __name__ == "__main__":
    main()
