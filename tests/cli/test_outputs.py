from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from evenhand.cli.outputs import check_outputs, plan_outputs, write_outputs
from evenhand.cli.terminal import Terminal
from evenhand.errors import ExitCode, UsageError
from evenhand.report import REPORTS, Page
from support.results import SAMPLE_CASES, SAMPLE_RUN, query

PAGE = Page(view_command="evenhand view 01J")


def planned(formats: str, *outs: str) -> list[tuple[str, str | None]]:
    return [
        (output.report.name, None if output.path is None else str(output.path))
        for output in plan_outputs(formats.split(), outs)
    ]


@pytest.mark.parametrize(
    ("formats", "outs", "expected"),
    [
        ("", [], [("table", None)]),
        ("json", [], [("json", None)]),
        ("json", ["run.json"], [("json", "run.json")]),
        ("json", ["run.txt"], [("json", "run.txt")]),
        ("json", ["-"], [("json", None)]),
        ("", ["junit=report.xml"], [("table", None), ("junit", "report.xml")]),
        ("", ["report.xml"], [("table", None), ("junit", "report.xml")]),
        ("", ["RUN.JSONL"], [("table", None), ("jsonl", "RUN.JSONL")]),
        ("table json", ["json=run.json"], [("table", None), ("json", "run.json")]),
        ("table junit json", ["junit=a", "json=b"], [("table", None), ("junit", "a"), ("json", "b")]),
        ("json json", [], [("json", None)]),
        ("json", ["json=a.json", "json=b.json"], [("json", "a.json"), ("json", "b.json")]),
        ("", ["table=-", "json=x"], [("table", None), ("json", "x")]),
        ("json", ["./jsno=x"], [("json", "jsno=x")]),
        ("json", ["out/a=b"], [("json", "out/a=b")]),
    ],
)
def test_each_format_goes_where_it_was_asked_for(
    formats: str, outs: list[str], expected: list[tuple[str, str | None]]
) -> None:
    assert planned(formats, *outs) == expected


@pytest.mark.parametrize(
    ("formats", "outs", "message"),
    [
        ("json junit", [], "only one format can go to the standard output, found json and junit"),
        (
            "json junit",
            ["run.json"],
            "--out 'run.json' does not say which format it is for; write --out json=… --out junit=…",
        ),
        ("table json", ["run.json"], "does not say which format"),
        ("", ["run.dat"], "--out 'run.dat' does not say in which format"),
        ("", ["-"], "--out '-' does not say in which format"),
        ("", ["jsno=run.json"], "no format 'jsno'; did you mean `json=run.json`?"),
        ("", ["zzz=run"], "no format 'zzz'; formats are table, json"),
        ("", ["json="], "--out 'json=' names no file"),
        ("json", [""], "--out '' names no file"),
        ("json", ["a\0b"], "names no file"),
        ("", ["json=x", "junit=x"], "--out names 'x' twice"),
        ("", ["json=x", "junit=./x"], "twice"),
        ("json", ["table=-", "json=-"], "only one format can go to the standard output"),
    ],
)
def test_what_could_mean_two_things_is_refused(formats: str, outs: list[str], message: str) -> None:
    with pytest.raises(UsageError) as caught:
        planned(formats, *outs)
    assert message in str(caught.value)


def test_a_file_that_cannot_be_written_is_found_before_the_run(tmp_path: Path) -> None:
    check_outputs(plan_outputs(["json"], [str(tmp_path / "new" / "run.json")]))
    with pytest.raises(UsageError, match=r"cannot be written: .* is a folder"):
        check_outputs(plan_outputs(["json"], [str(tmp_path)]))
    (tmp_path / "file").touch()
    with pytest.raises(UsageError, match="cannot be written: "):
        check_outputs(plan_outputs(["json"], [str(tmp_path / "file" / "run.json")]))


def write(tmp_path: Path, formats: str, *outs: str) -> ExitCode:
    outputs = plan_outputs(formats.split(), outs)
    return write_outputs(outputs, SAMPLE_RUN, query(SAMPLE_CASES), Terminal(), PAGE)


def test_several_reports_are_written_at_once(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    outs = [
        f"{name}={tmp_path / f'run{report.suffix}'}" for name, report in REPORTS.items() if name != "table"
    ]
    assert write(tmp_path, "", *outs) == ExitCode.OK
    assert len(json.loads((tmp_path / "run.json").read_text())["cases"]) == len(SAMPLE_CASES)
    assert len((tmp_path / "run.jsonl").read_bytes().splitlines()) == len(SAMPLE_CASES)
    assert ET.parse(tmp_path / "run.xml").getroot().tag == "testsuites"
    assert (tmp_path / "run.md").read_text().startswith("## ")
    assert b"support-quality" in capfdbinary.readouterr().out


def test_documents_on_the_standard_output_are_utf8_whatever_the_terminal_has(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with open(tmp_path / "stdout", "w", encoding="latin-1") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert write(tmp_path, "json") == ExitCode.OK
    assert "猫" in (tmp_path / "stdout").read_bytes().decode()


def test_the_table_takes_the_encoding_of_the_terminal(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with open(tmp_path / "stdout", "w", encoding="ascii") as stdout:
        monkeypatch.setattr(sys, "stdout", stdout)
        assert write(tmp_path, "table") == ExitCode.OK
    assert "x contains" in (tmp_path / "stdout").read_bytes().decode("ascii")


def test_an_output_that_fails_at_the_end_is_3_and_does_not_stop_the_others(
    tmp_path: Path, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    blocked = tmp_path / "blocked"
    blocked.mkdir()
    code = write(tmp_path, "", f"json={blocked}", f"md={tmp_path / 'run.md'}")
    assert code == ExitCode.HARNESS
    assert (tmp_path / "run.md").exists()
    err = capfdbinary.readouterr().err.decode()
    assert err == (
        f"error: {blocked} cannot be written: Is a directory; the run is stored: `evenhand view 01J --format json`\n"
    )
    assert sorted(os.listdir(tmp_path)) == ["blocked", "run.md"]
