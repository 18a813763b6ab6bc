"""The viewer in a real browser, over a generated run of 100,000 cases with outputs of 2 KB.

python -m benchmarks.viewer [CASES]
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.path.append(str(Path(__file__).parents[1] / "tests"))

from support.browser import Page, browser

CASES = 100_000
WORDS = 8_000
ASKED = (
    "", "status=fail", "q=w0001", "q=w00", "q=w0001 w0777", "order=worst", "order=-score", "order=-latency",
    "tag=t3", "status=pass&q=w12", "offset=90000",
)  # fmt: skip
SUITE = """\
version: 1
suite: big
providers: [{id: one, type: echo}]
prompts: [{id: p, template: "{{ q }}"}]
tests: [file://cases.jsonl]
defaults: {assert: [{type: contains, value: w01}, {type: length, max: 1995}, {type: not-contains, value: w0777}]}
"""


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else CASES
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_run(folder, count)
        asyncio.run(measure(folder, count))


def write_run(folder: Path, count: int) -> None:
    draw = random.Random(1)
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as file:
        for number in range(count):
            text = " ".join(f"w{draw.randrange(WORDS):04d}" for _ in range(330))[:2_000]
            file.write(
                json.dumps({"id": f"case-{number}", "tags": [f"t{number % 7}"], "vars": {"q": text}}) + "\n"
            )
    (folder / "evenhand.yaml").write_text(SUITE, encoding="utf-8")
    command = [sys.executable, "-m", "evenhand", "run", str(folder), "--no-progress"]
    subprocess.run(command, capture_output=True, check=False)


async def measure(folder: Path, count: int) -> None:
    server = subprocess.Popen(  # noqa: ASYNC220  (nothing else goes on yet)
        [sys.executable, "-m", "evenhand", "view", "--suite", str(folder), "--port", "0"],
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        address = re.search(r"http://\S+/", server.stderr.readline())[0]
        async with browser() as page:
            await page.resize(1280)
            await page.open(f"{address}runs")
            run = await page.run("document.querySelector('td a').href")
            print(f"viewer, {count:,} cases of 2 KB")
            print(f"  first paint of a run that was never opened  {await first_paint(page, run):6.0f} ms")
            began = time.perf_counter()
            while await page.run("document.querySelector('[data-live]') !== null"):
                await asyncio.sleep(0.5)
                await page.open(run)
            print(f"  everything taken in after                   {time.perf_counter() - began:6.1f} s")
            paints = [await first_paint(page, run) for _ in range(7)]
            print(
                f"  first paint, median of {len(paints)}                     {statistics.median(paints):6.0f} ms"
            )
            times = [await answer_time(page, run, query) for query in ASKED for _ in range(5)]
            print(
                f"  filters and searches, median of {len(times)}           {statistics.median(times):6.0f} ms"
            )
            print(f"  the slowest of them                         {max(times):6.0f} ms")
        print(f"  memory of the server at its peak            {peak_mb(server.pid):6.0f} MB")
    finally:
        server.terminate()
        server.wait()


async def first_paint(page: Page, address: str) -> float:
    await page.open(address)
    await page.until("performance.getEntriesByName('first-contentful-paint').length > 0")
    return float(await page.run("performance.getEntriesByName('first-contentful-paint')[0].startTime"))


async def answer_time(page: Page, address: str, query: str) -> float:
    path = json.dumps(f"{address}/rows?{query.replace(' ', '+')}")
    asking = f"await (await fetch({path})).text()"
    script = f"(async () => {{ const t = performance.now(); {asking}; return performance.now() - t }})()"
    return float(await page.run(script))


def peak_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    return int(re.search(r"VmHWM:\s+(\d+)", status)[1]) / 1024


if __name__ == "__main__":
    main()
