from __future__ import annotations

import pytest

from support.suites_on_disk import SUITE, write_suite


@pytest.fixture
def ran(evenhand, monkeypatch: pytest.MonkeyPatch):
    """The command line after a run of the suite with failures, outside any job."""
    for name in ("GITHUB_STEP_SUMMARY", "GITHUB_OUTPUT"):
        monkeypatch.delenv(name, raising=False)
    write_suite(SUITE)
    assert evenhand("run").code == 1
    return evenhand


def test_outside_a_job_the_summary_is_printed_and_blocks_nothing(ran) -> None:
    done = ran("ci-summary")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("## ❌ FAILED")


def test_in_a_job_summary_and_outputs_go_where_it_says(ran, tmp_path, monkeypatch) -> None:
    summary, outputs = tmp_path / "summary", tmp_path / "outputs"
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    monkeypatch.setenv("GITHUB_OUTPUT", str(outputs))
    done = ran("ci-summary")
    assert (done.code, done.out) == (0, "")
    assert summary.read_text(encoding="utf-8").startswith("## ❌ FAILED")
    assert "verdict=failed\n" in outputs.read_text(encoding="utf-8")


def test_a_run_that_is_not_there_is_told(ran) -> None:
    assert ran("ci-summary", "01NOSUCHRUN").code == 2


def test_every_format_can_be_written_at_once(ran, tmp_path) -> None:
    formats = ["html", "csv", "parquet", "md", "junit", "github", "json", "jsonl"]
    outs = [part for name in formats for part in ("--out", f"{name}={tmp_path / name}")]
    assert ran("view", *outs).code == 0
    assert all((tmp_path / name).stat().st_size for name in formats)
