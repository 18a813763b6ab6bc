"""What headers say of remaining quotas, in each dialect."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from aiohttp import web
from hypothesis import given
from hypothesis import strategies as st

from evenhand.io.quota_headers import quotas_in
from evenhand.model.exchange import Request, TestInfo
from evenhand.model.provider import ProviderContext
from evenhand.model.quota import Quota
from evenhand.providers.http import Http
from evenhand.template import Val
from support.servers import serving

NOW = 1_700_000_000.0


@pytest.mark.parametrize(
    ("headers", "quotas"),
    [
        ({}, []),
        ({"content-type": "application/json", "x-ratelimit-remaining-requests": "5"}, []),
        (
            {
                "x-ratelimit-limit-requests": "60",
                "x-ratelimit-remaining-requests": "59",
                "x-ratelimit-reset-requests": "1s",
                "x-ratelimit-limit-tokens": "150000",
                "x-ratelimit-remaining-tokens": "149984",
                "x-ratelimit-reset-tokens": "6m0s",
            },
            [Quota("requests", 59, 1.0, 60, True), Quota("tokens", 149_984, 360.0, 150_000, True)],
        ),
        (
            {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": "1h2m3.5s"},
            [Quota("requests", 0, 3_723.5, None, True)],
        ),
        (
            {"x-ratelimit-remaining-tokens": "7", "x-ratelimit-reset-tokens": "12ms"},
            [Quota("tokens", 7, 0.012, None, True)],
        ),
        (
            {
                "anthropic-ratelimit-requests-limit": "50",
                "anthropic-ratelimit-requests-remaining": "49",
                "anthropic-ratelimit-requests-reset": "2023-11-14T22:13:25Z",
                "anthropic-ratelimit-output-tokens-remaining": "0",
                "anthropic-ratelimit-output-tokens-reset": "2023-11-14T22:13:10+00:00",
            },
            [Quota("requests", 49, 5.0, 50, True), Quota("tokens", 0, 0.0, None, True)],
        ),
        (
            {"ratelimit-limit": "100", "ratelimit-remaining": "50", "ratelimit-reset": "30"},
            [Quota("requests", 50, 30.0, 100)],
        ),
        ({"ratelimit": '"default";r=50;t=30'}, [Quota("requests", 50, 30.0)]),
        (
            {"ratelimit": '"a";r=5;t=3, "b";r=900;t=3600'},
            [Quota("requests", 5, 3.0), Quota("requests", 900, 3_600.0)],
        ),
        ({"ratelimit": "limit=100, remaining=50, reset=5"}, []),
        ({"ratelimit": "remaining=50; reset=5"}, [Quota("requests", 50, 5.0)]),
        (
            {"x-ratelimit-remaining": "3", "x-ratelimit-reset": "1700000009"},
            [Quota("requests", 3, 9.0)],
        ),
        ({"x-ratelimit-remaining-requests": "many", "x-ratelimit-reset-requests": "1s"}, []),
        ({"x-ratelimit-remaining-requests": "1", "x-ratelimit-reset-requests": "soon"}, []),
        ({"x-ratelimit-remaining-requests": "-1", "x-ratelimit-reset-requests": "1s"}, []),
        ({"anthropic-ratelimit-tokens-remaining": "1", "anthropic-ratelimit-tokens-reset": "tomorrow"}, []),
    ],
)
def test_headers_tell_quotas(headers: dict[str, str], quotas: list[Quota]) -> None:
    assert list(quotas_in(headers, NOW)) == quotas


@given(
    st.dictionaries(
        st.sampled_from(
            [
                "x-ratelimit-remaining-requests",
                "x-ratelimit-reset-requests",
                "ratelimit",
                "ratelimit-reset",
                "ratelimit-remaining",
                "anthropic-ratelimit-tokens-remaining",
                "anthropic-ratelimit-tokens-reset",
            ]
        ),
        st.text(max_size=30) | st.from_regex(r"[0-9smh;=rt. ]{0,20}", fullmatch=True),
    )
)
def test_no_header_is_too_odd_to_be_read(headers: dict[str, str]) -> None:
    for quota in quotas_in(headers, NOW):
        assert quota.remaining >= 0
        assert 0 <= quota.wait_s(1.0) <= quota.reset_s


def test_a_session_tells_what_its_answers_say() -> None:
    async def limited(_: web.Request) -> web.Response:
        return web.Response(text="hi", headers={"RateLimit": '"default";r=5;t=3'})

    async def work() -> list[Quota]:
        told: list[Quota] = []
        async with serving(limited) as server:
            session = Http(url=Val(server.url)).open(
                ProviderContext(directory=Path(), tell_quota=told.append)
            )
            await session.complete(Request(text="x", test=TestInfo(id="t")))
            await session.close()
        return told

    assert asyncio.run(work()) == [Quota("requests", 5, 3.0)]
