"""What calls to a slow model cost: a run beside the ideal, and beside the HTTP library alone."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import aiohttp

from benchmarks.measure import Measured, measure, measure_command
from benchmarks.slow_server import slow_server
from benchmarks.suites import QUIET, write_call_suite

DELAY_S = 0.2
CONCURRENCY = 256


def calls(folder: Path, *, cells: int) -> None:
    """Time a run of so many cells against a model that takes 200 ms, 256 at once."""
    ideal_s = cells / CONCURRENCY * DELAY_S
    print(f"calls, 200 ms each, {CONCURRENCY} at once, {cells:,} cells, ideal {ideal_s:.1f} s", flush=True)
    with slow_server(DELAY_S) as url:
        library = [sys.executable, "-m", "benchmarks.calls", url, str(cells)]
        _show("aiohttp alone", measure_command(library, cwd=Path.cwd()), ideal_s, cells)
        start = measure(QUIET, cwd=write_call_suite(folder / "few", url=url, cells=1, at_once=CONCURRENCY))
        suite = write_call_suite(folder / "many", url=url, cells=cells, at_once=CONCURRENCY)
        found = measure(QUIET, cwd=suite)
        _show("evenhand", found, ideal_s, cells, start_cpu_s=start.cpu_seconds)


def _show(name: str, found: Measured, ideal_s: float, cells: int, *, start_cpu_s: float = 0.0) -> None:
    cpu_ms = (found.cpu_seconds - start_cpu_s) / cells * 1_000
    print(
        f"  {name:<16} {found.seconds:7.2f} s {found.seconds / ideal_s:6.2f} x ideal "
        f"{cpu_ms:7.3f} ms of processor a call {found.peak_mb:5.0f} MB peak",
        flush=True,
    )


async def _alone(url: str, cells: int) -> None:
    body = (
        b'{"model":"bench-1","messages":[{"role":"user","content":"What is the capital?'
        + b" " * 120
        + b'"}]}'
    )
    numbers = iter(range(cells))
    connector = aiohttp.TCPConnector(limit=CONCURRENCY)
    async with aiohttp.ClientSession(connector=connector, cookie_jar=aiohttp.DummyCookieJar()) as session:

        async def work() -> None:
            for _ in numbers:
                async with session.post(f"{url}/v1/chat/completions", data=body) as response:
                    await response.read()

        await asyncio.gather(*(work() for _ in range(CONCURRENCY)))


if __name__ == "__main__":
    asyncio.run(_alone(sys.argv[1], int(sys.argv[2])))
