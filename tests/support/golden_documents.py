"""Documents as this version writes them, for later versions to read: every kind, with every field filled."""

from __future__ import annotations

import functools
import gzip
import io
import json
import sqlite3
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec

from evenhand.compare.pins import pin
from evenhand.model.result import RESULT_SCHEMA_VERSION, CaseResult, CellKey, Run, RunStatus
from evenhand.report import json as json_report
from evenhand.store.migrations import MIGRATIONS
from evenhand.store.store import RunStore, open_store
from evenhand.store.verdicts import HumanVerdict, keep_verdict
from support.filled import filled
from support.golden import GOLDEN
from support.results import SAMPLE_CASES

FOLDER = GOLDEN / "documents"
CURRENT = f"{RESULT_SCHEMA_VERSION}.{len(MIGRATIONS)}"
"""The version of run documents and that of the store's tables: the name of a folder."""

RUN_ID = "01J0000000000000000000G0LD"
SUITE = "evals/evenhand.yaml"


def write(folder: Path) -> None:
    """Write one document of each kind. Raises `FileExistsError`: what was released is never written again."""
    folder.mkdir(parents=True)
    run, cases = golden_run(), golden_cases()
    with open_store(folder / "runs.sqlite") as store:
        writer = store.begin(run)
        for case in cases:
            writer.add(case)
        writer.finish(run)
        text = _document(store)
        (folder / "facts.json").write_text(json.dumps(facts(store), indent=1, ensure_ascii=False) + "\n")
    with closing(sqlite3.connect(folder / "runs.sqlite")) as database:
        database.execute("PRAGMA journal_mode = DELETE")
    (folder / "run.json").write_text(text)
    (folder / "run.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    pin(folder, SUITE, RUN_ID)
    keep_verdict(folder, filled(HumanVerdict, id="t/1", case_key=cases[0].case_key))
    (folder / ".gitignore").unlink(missing_ok=True)


def golden_run() -> Run:
    """A finished run with something in every field."""
    return filled(
        Run,
        schema_version=RESULT_SCHEMA_VERSION,
        run_id=RUN_ID,
        status=RunStatus.FINISHED,
        suite_path=SUITE,
        started_at="2026-11-01T10:00:00Z",
        finished_at="2026-11-01T10:05:00Z",
        exit_code=1,
    )


def golden_cases() -> list[CaseResult]:
    """A result with something in every field, and ordinary ones of every status."""
    cell = filled(CellKey)
    whole = filled(CaseResult, cell=cell, case_key=cell.digest(), index=0)
    return [whole, *(msgspec.structs.replace(c, index=n) for n, c in enumerate(SAMPLE_CASES, 1))]


def facts(store: RunStore) -> dict[str, Any]:
    """What anybody who reads the run must find, whatever has become of its form."""
    run = store.find(RUN_ID)
    return {
        "run": {
            "run_id": run.run_id,
            "status": run.status.value,
            "suite": run.suite,
            "suite_path": run.suite_path,
            "started_at": run.started_at,
            "exit_code": run.exit_code,
            "total": run.summary.total,
            "pass_rate": run.summary.pass_rate,
        },
        "cases": [
            {
                "case_key": case.case_key,
                "test_id": case.cell.test_id,
                "provider_id": case.cell.provider_id,
                "status": case.status.value,
                "score": case.score,
                "output": case.output,
                "error": case.error,
                "verdicts": [
                    [each.kind, each.status.value, each.score, each.reason] for each in case.asserts
                ],
            }
            for case in store.results(RUN_ID)
        ],
    }


def _document(store: RunStore) -> str:
    out = io.StringIO()
    json_report.render(store.find(RUN_ID), functools.partial(store.results, RUN_ID), out)
    return out.getvalue()


if __name__ == "__main__":
    write(FOLDER / CURRENT)
    print(f"wrote {FOLDER / CURRENT}", file=sys.stderr)
