from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.model.result import CaseResult, Run, RunStatus, Summary
from evenhand.store.store import RunStore, open_store
from evenhand.web.case_index import CaseIndex
from evenhand.web.site import Site
from support.viewed import RUN_ID

Answer = tuple[int, dict[str, str], str]


@pytest.fixture
def store() -> Iterator[RunStore]:
    with open_store(None) as opened:
        yield opened


@pytest.fixture
def index() -> Iterator[CaseIndex]:
    made = CaseIndex(None)
    yield made
    made.close()


@pytest.fixture
def add(store: RunStore) -> Callable[..., Run]:
    """Adds a finished run with these results to the store."""

    def call(*results: CaseResult, run_id: str = RUN_ID, **fields: Any) -> Run:
        shared = {"run_id": run_id, "suite": "capitals", "started_at": "2026-01-02T03:04:05Z", **fields}
        writer = store.begin(Run(**shared))
        for result in results:
            writer.add(result)
        summary = Summary(total=len(results), passed=len(results))
        ended = Run(**{"status": RunStatus.FINISHED, "exit_code": 0, "summary": summary, **shared})
        writer.finish(ended)
        return ended

    return call


@pytest.fixture
def site(store: RunStore, tmp_path: Path) -> Iterator[Site]:
    made = Site(store, CaseIndex(None), tmp_path)
    yield made
    made.close()


@pytest.fixture
def browse(site: Site) -> Callable[..., Answer]:
    """Asks the viewer for an address over a real connection: the status, the headers and the text."""
    import aiohttp
    from aiohttp.test_utils import TestServer

    from evenhand.web.server import application

    async def ask(address: str, method: str, headers: dict[str, str], data: Any) -> Answer:
        async with TestServer(application(site)) as server, aiohttp.ClientSession() as session:
            url = server.make_url(address)
            if headers.get("Origin") == "same":
                headers = {**headers, "Origin": str(url.origin())}
            async with session.request(
                method, url, headers=headers, data=data, allow_redirects=False
            ) as response:
                return response.status, dict(response.headers), await response.text()

    def call(
        address: str, method: str = "GET", headers: dict[str, str] | None = None, data: Any = None
    ) -> Answer:
        return asyncio.run(ask(address, method, headers or {}, data))

    return call
