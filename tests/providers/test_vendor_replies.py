"""What vendors answer, feature by feature, in the shapes that they send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from evenhand.errors import ProviderError
from evenhand.io.http import HttpReply
from evenhand.model.emptiness import empty_reason
from evenhand.model.exchange import Request, Response, TestInfo
from evenhand.model.provider import PROVIDERS
from evenhand.providers.vendor import VendorProvider
from support.assertions import built, evidence, judged
from support.vectors import row_id, rows

TABLE = Path(__file__).parents[1] / "data" / "vendor-replies.jsonl"
ROWS = [json.loads(line) for line in TABLE.read_text(encoding="utf-8").splitlines()]
ASKED = Request(text="?", test=TestInfo(id="t"))


def decoded(row: dict[str, Any]) -> Response:
    cls = PROVIDERS.find(row["type"])
    assert cls is not None
    provider = cls(id="x", model="m", **row["options"])  # type: ignore[call-arg]
    assert isinstance(provider, VendorProvider)
    return provider.decode(HttpReply(200, {}, json.dumps(row["reply"]).encode()), ASKED)


def plain(value: Any) -> Any:
    return msgspec.json.decode(msgspec.json.encode(value))


@pytest.mark.parametrize("row", [r for r in ROWS if "error_class" not in r["expected"]], ids=row_id)
def test_a_reply_is_read_whole(row: dict[str, Any]) -> None:
    response = decoded(row)
    found = {name: plain(getattr(response, name, None)) for name in row["expected"]}
    if "empty" in found:
        found["empty"] = empty_reason(response)
    assert found == row["expected"]


@pytest.mark.parametrize("row", [r for r in ROWS if "error_class" in r["expected"]], ids=row_id)
def test_a_reply_that_is_no_answer_is_an_error_of_its_class(row: dict[str, Any]) -> None:
    with pytest.raises(ProviderError) as caught:
        decoded(row)
    error = caught.value
    assert {"error_class": error.error_class, "retriable": error.retriable} == row["expected"]


def test_calls_of_tools_are_read_whether_alone_or_in_a_list() -> None:
    (row,) = [row for row in rows("field-cases") if row["id"] == "tool-call-shapes"]
    for raw, expected in zip(row["input"]["provider_raw"], [row["expected"]["each"]] * 2, strict=True):
        items = json.loads(raw)
        output = items if isinstance(items, list) else [items]
        reply = {"type": "openai", "options": {"api": "responses"}, "reply": {"output": output}}
        fields = {name: value for name, value in plain(decoded(reply)).items() if name != "output"}
        outcome = judged(built(row["input"]["assert"]), evidence("", response=fields))
        assert {"status": outcome.status, "score": outcome.score} == expected
