"""What the pages show works: suites run, parts of suites load, programs and scripts do what they say."""

from __future__ import annotations

import asyncio
import json
import re
import socket
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import yaml

from evenhand import Response, RunOptions, load_suite, run_suite, run_suite_async
from evenhand.io.fake import FakeSession

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / name for name in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md")]
PAGES += [page for page in sorted((ROOT / "docs").rglob("*.md")) if page.parent.name != "reference"]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.DOTALL | re.MULTILINE)
NAME = re.compile(r"`([\w./-]+\.(?:py|js|csv|toml)|assistant)`[^`]*:\s*\Z", re.DOTALL)
"""The name of a file in the last words before a block."""

STAND_IN = {
    "app.py": "import json, sys\n"
    "def answer(request):\n    return 'Paris'\n"
    "if __name__ == '__main__':\n"
    "    json.load(sys.stdin)\n"
    "    print(json.dumps({'output': json.dumps({'answer': ' apples, pears, plums '})}))\n",
}
"""Files that pages speak of and need not show."""

PORT = "8767"
"""The port of servers that pages start."""

GREEN = (
    "README.md",
    "docs/guides/first-suite.md",
    "docs/guides/exec-programs.md",
    "docs/guides/from-promptfoo.md",
    "docs/guides/test-an-endpoint.md",
    "docs/guides/test-your-python-app.md",
)
"""Pages whose suites pass as they stand, with what the page itself shows."""

FREE_KEYS = {
    "prompts": '- {id: ask, template: "Hello"}\n',
    "providers": "- {id: stand-in, type: echo}\n",
    "tests": "- vars: {country: Norway, limit: 9}\n  assert: [{type: length, max: 9}]\n",
}
"""What a part of a suite lacks to be one."""


class Block(NamedTuple):
    """A block of code on a page."""

    page: str
    number: int
    language: str
    text: str
    file: str | None

    @property
    def is_suite(self) -> bool:
        return self.language == "yaml" and self.text.startswith("version: 1")


def blocks_of(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    name = page.relative_to(ROOT).as_posix()
    for number, match in enumerate(BLOCK.finditer(text)):
        before = text[: match.start()].rpartition("```")[2][-400:]
        file = NAME.search(before)
        yield Block(name, number, match[1], match[2], file[1] if file else None)


BLOCKS = [block for page in PAGES for block in blocks_of(page)]


def chosen(*languages: str, suite: bool | None = None) -> list[Any]:
    return [
        pytest.param(block, id=f"{block.page}-{block.number}")
        for block in BLOCKS
        if block.language in languages and (suite is None or block.is_suite is suite)
    ]


def write_files(page: str, folder: Path, port: str) -> None:
    """Write the files that a page shows, and stand-ins for those that it does not."""
    files = {**STAND_IN, **{block.file: block.text for block in BLOCKS if block.page == page and block.file}}
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text.replace(PORT, port), encoding="utf-8")
        path.chmod(0o755)


def completed(part: str) -> str:
    """A part of a suite with what it lacks to be one."""
    if part.startswith("assert:"):
        case = "- vars: {country: Norway, limit: 9}\n" + textwrap.indent(part, "  ")
        part = "tests:\n" + textwrap.indent(case, "  ")
    for key, value in FREE_KEYS.items():
        if not re.search(f"^{key}:", part, re.MULTILINE):
            part += f"{key}:\n" + textwrap.indent(value, "  ")
    return "version: 1\n" + part


def run_with_plugin(folder: Path, module: str) -> subprocess.CompletedProcess[str]:
    """Run the suite of a folder where a module of it is installed as a plugin."""
    metadata = folder / f"{module}-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n", encoding="utf-8"
    )
    (metadata / "entry_points.txt").write_text(f"[evenhand.plugins]\nshop = {module}\n", encoding="utf-8")
    main = f"import sys; sys.path.insert(0, {str(folder)!r}); from evenhand.__main__ import main; sys.exit(main())"
    return subprocess.run(
        [sys.executable, "-c", main, "run", str(folder), "--no-progress"],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
    )


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def reply(request: Any) -> Response:
    """What a model says in the place of one: a verdict to a judge's question, else the question."""
    if "reasoning" in request.prompt:
        return Response(output={"reasoning": "It does.", "pass": True, "score": 1.0})
    return Response(output=f"{request.prompt} From 9 to 17.")


@pytest.mark.parametrize("block", chosen("yaml", suite=True))
def test_a_suite_in_the_documents_runs(block: Block, tmp_path: Path) -> None:
    port = str(free_port())
    write_files(block.page, tmp_path, port)
    (tmp_path / "evenhand.yaml").write_text(block.text.replace(PORT, port), encoding="utf-8")
    if "plugins" in block.page:
        done = run_with_plugin(tmp_path, "evenhand_shop")
        assert done.returncode == 0, done.stdout + done.stderr
        return
    suite = load_suite(tmp_path)
    providers = [*suite.providers, *(judge.provider for judge in suite.graders.judges)]
    sessions = {provider.id: FakeSession(reply) for provider in providers if provider.credentials}
    finished = asyncio.run(run_suite_async(suite, RunOptions(no_cache=True), save=False, sessions=sessions))
    assert finished.exit_code in (0, 1), finished.report()
    assert finished.summary.errored == 0
    if block.page in GREEN:
        assert finished.passed, finished.report()


@pytest.mark.parametrize("block", chosen("yaml", suite=False))
def test_a_part_of_a_suite_in_the_documents_is_one(block: Block, tmp_path: Path) -> None:
    if re.search("^jobs:|^  script:", block.text, re.MULTILINE):
        yaml.safe_load(block.text)
        return
    write_files(block.page, tmp_path, PORT)
    (tmp_path / "evenhand.yaml").write_text(completed(block.text), encoding="utf-8")
    assert len(load_suite(tmp_path).cases) > 0


@pytest.mark.parametrize("block", chosen("python"))
def test_python_in_the_documents_runs(block: Block, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if "run_suite(" not in block.text:
        compile(block.text, block.page, "exec")
        return
    write_files(block.page, tmp_path / "evals", PORT)
    suite = next(
        (other.text for other in BLOCKS if other.page == block.page and other.is_suite), completed("")
    )
    (tmp_path / "evals/evenhand.yaml").write_text(suite, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    exec(compile(block.text, block.page, "exec"), {"__name__": "example"})


def test_the_tests_of_a_suite_in_pytest_pass(tmp_path: Path) -> None:
    page = "docs/guides/test-your-python-app.md"
    write_files(page, tmp_path / "evals", PORT)
    blocks = [block for block in BLOCKS if block.page == page]
    (tmp_path / "evals/evenhand.yaml").write_text(
        next(b.text for b in blocks if b.is_suite), encoding="utf-8"
    )
    (tmp_path / "test_evals.py").write_text(
        next(b.text for b in blocks if "import pytest" in b.text), encoding="utf-8"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=180,
        check=False,
        cwd=tmp_path,
    )
    assert "2 passed" in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("block", [b for b in BLOCKS if b.file == "assistant"], ids=lambda block: block.page)
def test_the_program_in_the_documents_answers_what_stands_beside_it(block: Block, tmp_path: Path) -> None:
    write_files(block.page, tmp_path, PORT)
    (line,) = [
        line.removeprefix("$ ")
        for other in BLOCKS
        if other.page == block.page and other.language == "console"
        for line in other.text.splitlines()
    ]
    done = subprocess.run(
        line, shell=True, capture_output=True, text=True, cwd=tmp_path, timeout=60, check=True
    )
    assert json.loads(done.stdout) == {"output": "Paris"}


def test_a_failure_looks_as_the_readme_shows_it(tmp_path: Path) -> None:
    write_files("README.md", tmp_path, PORT)
    app = tmp_path / "app.py"
    app.write_text(app.read_text(encoding="utf-8").replace("Paris", "Lyon"), encoding="utf-8")
    page = {block.language: block.text for block in BLOCKS if block.page == "README.md"}
    (tmp_path / "evenhand.yaml").write_text(page["yaml"], encoding="utf-8")
    finished = run_suite(tmp_path, save=False)
    assert finished.exit_code == 1
    report = finished.report()
    assert [line for line in page["text"].splitlines() if line not in report] == []
