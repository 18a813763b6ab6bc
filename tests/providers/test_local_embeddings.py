"""The small model on this machine: what it answers, and what it never does."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from evenhand import SuiteError, load_suite, run_suite
from evenhand.assertions.similar import cosine_of
from evenhand.errors import ProviderError
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Request, TestInfo
from evenhand.model.provider import ProviderContext
from evenhand.providers import local_embeddings
from evenhand.providers.embeddings import Embeddings
from evenhand.providers.local_embeddings import MAX_CHARACTERS, encode
from evenhand.providers.prices import Pricing
from support.written import write

LOCAL = Embeddings(id="here", model="local")


def asked(text: str) -> Request:
    return Request(text=text, test=TestInfo(id="t"))


def vectors(*texts: str) -> list[Any]:
    async def work() -> list[Any]:
        session = LOCAL.open(ProviderContext(directory=Path()))
        try:
            return [(await session.complete(asked(text))).output for text in texts]
        finally:
            await session.close()

    return asyncio.run(work())


def test_paraphrases_are_closer_than_strangers_and_nothing_is_fetched(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def refuse(*_: Any) -> None:
        raise AssertionError("a connection was opened")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    before = dict(os.environ)
    tokyo, same, tyres = vectors(
        "The capital of Japan is Tokyo.", "Tokyo is Japan's capital.", "Bicycles need air in their tyres."
    )
    assert len(tokyo) == 384
    assert cosine_of(tokyo, same) > 0.9 > cosine_of(tokyo, tyres)
    assert dict(os.environ) == before


def test_equal_texts_have_equal_vectors_whatever_they_hold() -> None:
    nul, space, lone, blank, again = vectors("a\0b", "a b", "\ud800", "", "a b")
    assert nul == space == again
    assert len(lone) == len(blank) == 384


def test_the_event_loop_goes_on_while_the_model_works() -> None:
    async def work() -> int:
        session = LOCAL.open(ProviderContext(directory=Path()))
        call = asyncio.ensure_future(session.complete(asked("word " * 100)))
        turns = 0
        while not call.done():
            await asyncio.sleep(0)
            turns += 1
        await session.close()
        return turns

    assert asyncio.run(work()) > 10


def test_a_text_that_would_take_too_long_is_refused() -> None:
    with pytest.raises(ProviderError, match=r"at most 20,000 characters, found 20,001"):
        encode(asked("x" * (MAX_CHARACTERS + 1)))


def test_what_only_a_vendor_reads_is_refused_beside_the_local_model() -> None:
    odd = Embeddings(id="e", model="local", params={"dimensions": 3}, pricing=Pricing(input_per_mtok=1))
    assert [problem.path for problem in odd.problems(Confinement(directory=Path()))] == [
        ("params",),
        ("pricing",),
    ]
    assert LOCAL.problems(Confinement(directory=Path())) == []
    served = Embeddings(id="e", model="local", base_url="http://127.0.0.1:1", api_key_env="K")
    assert (served.is_local, served.problems(Confinement(directory=Path())), served.credentials) == (
        False,
        [],
        ("K",),
    )
    assert LOCAL.credentials == ()


def test_without_the_package_one_line_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(local_embeddings, "PACKAGE", "no_such_package_at_all")
    document = {
        "version": 1,
        "providers": [{"id": "app", "type": "echo"}, {"id": "e", "type": "embeddings", "model": "local"}],
        "prompts": [{"id": "p", "template": "Hi"}],
        "tests": [{"id": "t", "assert": [{"type": "similar", "value": "Hi"}]}],
    }
    write(tmp_path, document)
    loaded = load_suite(tmp_path)
    assert "pip install 'evenhand[local]'" in str(loaded.warnings[0])
    with pytest.raises(SuiteError, match=r"provider 'e': the local model needs .* pip install"):
        run_suite(loaded, save=False)
    with pytest.raises(ProviderError, match="pip install"):
        LOCAL.open(ProviderContext(directory=Path()))
