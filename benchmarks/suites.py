"""The suites that the benchmarks run: five deterministic assertions on every answer."""

from __future__ import annotations

import json
from pathlib import Path

_ASSERTIONS = """
defaults:
  assert:
    - {type: contains, value: "capital"}
    - {type: not-icontains, value: "i cannot"}
    - {type: regex, value: "case \\\\d+"}
    - {type: length, min: 50, max: 5000}
    - {type: jinja, value: "output | length > 50"}
"""

QUIET = ["run", ".", "--no-progress"]
"""The command that the benchmarks measure."""

_PROVIDERS = {
    "echo": "  - type: echo",
    "async function": "  - {type: python, target: 'file://app.py:answer'}",
    "plain function": "  - {type: python, target: 'file://app.py:plain'}",
}

_APP = """
async def answer(request):
    return request.prompt


def plain(request):
    return request.prompt
"""


def write_suite(folder: Path, *, provider: str, cases: int, output_bytes: int) -> Path:
    """A folder with a suite of so many cases, whose answers are about that long."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "app.py").write_text(_APP, encoding="utf-8")
    padding = "The capital of a country is where its government sits. "
    text = (padding * (output_bytes // len(padding) + 1))[: max(0, output_bytes - 60)]
    (folder / "evenhand.yaml").write_text(
        f"version: 1\nsuite: benchmark\nproviders:\n{_PROVIDERS[provider]}\n"
        f"prompts:\n  - id: ask\n    template: 'In case {{{{ number }}}}, what is the capital? {{{{ text }}}}'\n"
        f"tests: ['file://cases.jsonl']\n{_ASSERTIONS}",
        encoding="utf-8",
    )
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(cases):
            lines.write(json.dumps({"id": f"case-{number}", "vars": {"number": number, "text": text}}) + "\n")
    return folder


def write_call_suite(folder: Path, *, url: str, cells: int, at_once: int) -> Path:
    """A suite whose cells ask a model behind OpenAI's API at that address, so many at once."""
    folder.mkdir(parents=True, exist_ok=True)
    asserts = _ASSERTIONS.replace("case \\\\d+", "city|town")
    (folder / "evenhand.yaml").write_text(
        "version: 1\nsuite: calls\nproviders:\n"
        f"  - {{type: openai, model: bench-1, base_url: '{url}/v1', request: {{auth: none}}}}\n"
        f"runner: {{concurrency: {at_once}}}\n"
        "prompts:\n  - id: ask\n    template: 'In case {{ number }}, what is the capital? {{ text }}'\n"
        f"tests: ['file://cases.jsonl']\n{asserts}",
        encoding="utf-8",
    )
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(cells):
            values = {"number": number, "text": "lorem ipsum " * 10}
            lines.write(json.dumps({"id": f"case-{number}", "vars": values}) + "\n")
    return folder


SCRIPTS = {
    "no script": "",
    "inline": "    - {type: javascript, value: \"output.length > 50 && context.vars.f7 !== 'x'\"}\n",
    "three inline": (
        "    - {type: javascript, value: \"output.length > 50 && context.vars.f7 !== 'x'\"}\n"
        "    - {type: javascript, value: \"const words = output.split(' '); words.length / 400\"}\n"
        "    - {type: javascript, value: \"({pass: /capital/.test(output), score: 1, reason: 'seen'})\"}\n"
    ),
    "inline of its own realm": (
        '    - {type: javascript, value: "Array.prototype.length === 0 && output.length > 50"}\n'
    ),
    "file": "    - {type: javascript, value: 'file://check.js'}\n",
    "python": "    - {type: python, value: \"len(output) > 50 and context['vars']['f7'] != 'x'\"}\n",
}
"""Script assertions that are put beside a plain one."""


def write_script_suite(folder: Path, *, scripts: str, cases: int, output_bytes: int = 2_000) -> Path:
    """A suite with twenty vars a case whose answers are judged by one plain assertion and some scripts."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "check.js").write_text(
        "module.exports = (output, context) => output.length > 50 && context.vars.f7 !== 'x';\n",
        encoding="utf-8",
    )
    (folder / "evenhand.yaml").write_text(
        "version: 1\nsuite: benchmark\nproviders: [{type: echo}]\n"
        "prompts:\n  - id: ask\n    template: 'The capital of {{ number }} {{ text }}'\n"
        "tests: ['file://cases.jsonl']\ndefaults:\n  assert:\n"
        f"    - {{type: contains, value: capital}}\n{SCRIPTS[scripts]}",
        encoding="utf-8",
    )
    text = ("lorem ipsum dolor sit amet " * 100)[: output_bytes - 30]
    fields = {f"f{index}": f"value {index}" for index in range(18)}
    with (folder / "cases.jsonl").open("w", encoding="utf-8") as lines:
        for number in range(cases):
            values = {"number": number, "text": text, **fields}
            lines.write(json.dumps({"id": f"case-{number}", "vars": values}) + "\n")
    return folder


def write_single(folder: Path) -> Path:
    """A folder with a suite of one case."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "evenhand.yaml").write_text(
        "version: 1\nproviders: [{type: echo}]\nprompts: [{id: p, template: hello}]\n"
        "tests: [{id: one, assert: [{type: contains, value: hello}]}]\n",
        encoding="utf-8",
    )
    return folder
