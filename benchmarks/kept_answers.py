"""What kept answers cost: look-ups, writes from four processes at once, and a warm run of 10,000 cells."""

from __future__ import annotations

import asyncio
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.measure import measure
from evenhand.cache.answers import AnswerCache
from evenhand.cache.question import Question, question_of
from evenhand.model.exchange import Response, Usage
from evenhand.store.redaction import Redactor

WRITERS = 4
EACH = 10_000
TEXT = "lorem ipsum dolor sit amet " * 25


def question(number: int) -> Question:
    return question_of({"prompt": f"question {number}", "text": TEXT}, provider="app", test=f"case-{number}")


def answer(number: int) -> Response:
    return Response(output=f"{number} {TEXT}", usage=Usage(input_tokens=200, output_tokens=150), model="m")


async def write(folder: Path, writer: int) -> None:
    """Keep answers as a run does, and print the processor time of each."""
    cache = AnswerCache(folder, Redactor(["a-secret-of-the-environment"]))
    asked = [question(number) for number in range(writer * EACH, (writer + 1) * EACH)]
    answers = [answer(number) for number in range(EACH)]
    cache.find(asked[0])
    before, began = _processor_s(), time.perf_counter()
    for number, one in enumerate(asked):
        cache.keep(one, answers[number])
        if number % 16 == 0:
            await asyncio.sleep(0)
    await cache.close()
    wall_s = time.perf_counter() - began
    print(json.dumps({"processor_us": (_processor_s() - before) / EACH * 1e6, "wall_s": wall_s}))


def _processor_s() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


async def look_up(folder: Path) -> float:
    """Microseconds of processor time for one look-up of a kept answer, decoded."""
    cache = AnswerCache(folder, Redactor(()))
    asked = [question(number * 7919 % (WRITERS * EACH)) for number in range(20_000)]
    for one in asked[:1_000]:
        cache.find(one)
    began = time.process_time()
    found = sum(cache.find(one) is not None for one in asked)
    taken = time.process_time() - began
    await cache.close()
    if found != len(asked):
        raise SystemExit(f"{len(asked) - found} answers are missing")
    return taken / len(asked) * 1e6


def stored(folder: Path) -> None:
    began = time.perf_counter()
    writers = [
        subprocess.Popen(
            [sys.executable, "-m", "benchmarks.kept_answers", str(folder), str(writer)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for writer in range(WRITERS)
    ]
    told = [json.loads(writer.communicate()[0]) for writer in writers]
    wall_s = max(one["wall_s"] for one in told)
    mean = sum(one["processor_us"] for one in told) / WRITERS
    print(f"  write, {WRITERS} processes  {mean:7.1f} us of processor time each", flush=True)
    print(f"  write, {WRITERS} processes  {wall_s / WRITERS / EACH * 1e6:7.1f} us of wall time, amortised")
    print(f"  look-up             {asyncio.run(look_up(folder)):7.1f} us of processor time")
    print(f"  ({time.perf_counter() - began:.1f} s altogether)")


def warm_run(folder: Path, *, kind: str) -> float:
    """Milliseconds a cell of a run whose answers are all kept, five assertions, stored, without the start-up."""
    seconds = []
    for cases in (500, 10_500):
        suite = folder / f"{kind}-{cases}"
        suite.mkdir()
        _write_suite(suite, kind, cases)
        _keep_all(suite)
        command = ["run", ".", "--no-progress", "--cache-only"]
        seconds.append(min(measure(command, cwd=suite).seconds for _ in range(3)))
    return (seconds[1] - seconds[0]) / 10_000 * 1_000


PROVIDERS = {
    "exec": "{id: app, type: exec, command: [sh, app.sh]}",
    "openai": "{id: app, type: openai, model: some-model, base_url: 'http://127.0.0.1:9/v1', request: {auth: none}}",
    "http": "{id: app, type: http, url: 'http://127.0.0.1:9/ask', body: {q: '{{ prompt }}'}}",
}


def _write_suite(folder: Path, kind: str, cases: int) -> None:
    (folder / "app.sh").write_text('cat > /dev/null; echo \'{"output": "x"}\'\n', encoding="utf-8")
    (folder / "evenhand.yaml").write_text(
        f"version: 1\nproviders: [{PROVIDERS[kind]}]\n"
        "prompts:\n  - {id: ask, template: 'The capital of {{ number }} {{ text }}'}\n"
        "tests: ['file://cases.jsonl']\ndefaults:\n  assert:\n"
        "    - {type: contains, value: capital}\n    - {type: not-contains, value: sorry}\n"
        "    - {type: regex, value: 'capital of \\d+'}\n    - {type: length, min: 5}\n"
        "    - {type: icontains, value: LOREM}\n",
        encoding="utf-8",
    )
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(cases):
            lines.write(
                json.dumps({"id": f"c{number}", "vars": {"number": number, "text": TEXT[:170]}}) + "\n"
            )


def _keep_all(folder: Path) -> None:
    """Keep an answer to every question of a suite, as a run would, without calling anything."""
    from evenhand.config.load import load_suite
    from evenhand.model.provider import ProviderContext
    from evenhand.run.plan import Plan
    from evenhand.run.render import render_request
    from evenhand.template import order_vars, render_scope

    suite = load_suite(folder)

    async def keep() -> None:
        cache = AnswerCache(folder / ".evenhand" / "cache", Redactor(()))
        keyers = {
            provider.id: provider.keyer(
                ProviderContext(directory=suite.directory, engine=suite.engine, env=suite.env)
            )
            for provider in suite.providers
        }
        for number, cell in enumerate(Plan(suite).cells()):
            values, scope = render_scope(order_vars(cell.case.vars, suite.engine), suite.env)
            request = render_request(suite, cell.case, cell.prompt, 0, values, scope)
            keyer = keyers[cell.provider.id]
            if keyer is not None:
                asked = question_of(keyer(request), provider=cell.provider.id, test=cell.case.id)
                cache.keep(
                    asked, Response(output=request.prompt, usage=Usage(input_tokens=50), latency_ms=1.0)
                )
            if number % 16 == 0:
                await asyncio.sleep(0)
        await cache.close()

    asyncio.run(keep())


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        print("kept answers, 700 B", flush=True)
        stored(Path(scratch) / "cache")
        print("warm run, five assertions, stored, best of 3", flush=True)
        for kind in PROVIDERS:
            print(f"  {kind:<8} {warm_run(Path(scratch), kind=kind):7.3f} ms a cell", flush=True)


if __name__ == "__main__":
    if len(sys.argv) > 2:
        asyncio.run(write(Path(sys.argv[1]), int(sys.argv[2])))
    else:
        main()
