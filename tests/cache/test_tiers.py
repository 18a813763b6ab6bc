"""Shared storage: read through, written in the background, never believed, never in the way."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from evenhand.cache.entry import entry_bytes, response_document
from evenhand.cache.http_tier import HttpTier
from evenhand.cache.question import Question, question_of
from evenhand.cache.s3_tier import S3Tier
from evenhand.cache.tier import Tier, TierUnavailable
from evenhand.model.caching import S3Settings
from evenhand.model.exchange import Response
from support.cached import opened

SECRET = "test-secret-key"


def question(number: int = 0) -> Question:
    return question_of({"prompt": number}, provider="p", test="t")


class Shelf:
    """A server that keeps bytes by path; `seen` lists the calls, `answer` may refuse or spoil them."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.seen: list[str] = []
        self.status: int | None = None
        self.token: str | None = None
        self.delay_s = 0.0
        self.url = ""

    async def handle(self, request: web.Request) -> web.Response:
        self.seen.append(request.method)
        await asyncio.sleep(self.delay_s)
        if self.status is not None:
            return web.Response(status=self.status)
        if self.token is not None and request.headers.get("Authorization") != f"Bearer {self.token}":
            return web.Response(status=401)
        if request.method == "PUT":
            self.kept[request.path] = await request.read()
            return web.Response(status=201)
        body = self.kept.get(request.path)
        return web.Response(status=404) if body is None else web.Response(body=body)


@contextlib.asynccontextmanager
async def shelf() -> AsyncIterator[Shelf]:
    kept = Shelf()
    app = web.Application(client_max_size=128 << 20)
    app.router.add_route("*", "/{path:.*}", kept.handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    kept.url = "http://{}:{}/answers".format(*runner.addresses[0][:2])
    try:
        yield kept
    finally:
        await runner.cleanup()


def body_of(number: int, output: str = "x") -> bytes:
    document = response_document(Response(output=output))
    assert document is not None
    return entry_bytes(question(number), document, question(number).document, 0.0)


async def holds_the_contract(tier: Tier) -> None:
    key, other = question(1).key, question(2).key
    assert await tier.get(key) is None
    assert not await tier.has(key)
    await tier.put(key, b"first")
    await tier.put(key, b"second")
    assert await tier.has(key)
    assert await tier.get(key) == b"first"
    assert await tier.get(other) is None
    large = os.urandom(3 << 20)
    await tier.put(other, large)
    assert await tier.get(other) == large
    await tier.close()


def test_plain_server_keeps_answers() -> None:
    async def work() -> None:
        async with shelf() as kept:
            kept.token = "abc"
            await holds_the_contract(HttpTier(kept.url, "abc"))
            refused = HttpTier(kept.url, "wrong")
            for call in (refused.get("k"), refused.has("k"), refused.put("k", b"")):
                with pytest.raises(TierUnavailable, match="HTTP 401"):
                    await call
            await refused.close()

    asyncio.run(work())


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@pytest.fixture(scope="module")
def bucket(tmp_path_factory: pytest.TempPathFactory) -> Iterator[S3Settings]:
    """A bucket of a real server that speaks S3's protocol and checks signatures."""
    folder = tmp_path_factory.mktemp("s3")
    (folder / "answers").mkdir()
    port = free_port()
    rclone = shutil.which(
        "rclone", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    assert rclone is not None
    server = subprocess.Popen(
        [
            *(rclone, "serve", "s3", str(folder), "--addr", f"127.0.0.1:{port}"),
            *("--auth-key", f"test-key,{SECRET}", "--config", os.devnull, "--vfs-cache-mode", "off"),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            time.sleep(0.05)
        yield S3Settings(bucket="answers", endpoint=f"http://127.0.0.1:{port}", force_path_style=True)
    finally:
        server.terminate()
        server.wait(10)


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "test-key")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


def test_bucket_keeps_answers(bucket: S3Settings, credentials: None) -> None:
    asyncio.run(holds_the_contract(S3Tier(bucket)))


def test_bucket_refuses_a_wrong_secret(
    bucket: S3Settings, credentials: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong")

    async def work() -> None:
        tier = S3Tier(bucket)
        with pytest.raises(TierUnavailable) as refused:
            await tier.put(question(9).key, b"x")
        assert "wrong" not in str(refused.value)

    asyncio.run(work())


def test_answer_is_shared_between_machines_over_s3(
    bucket: S3Settings, credentials: None, tmp_path: Path
) -> None:
    async def work() -> None:
        here = opened(tmp_path / "here", tier=S3Tier(bucket))
        here.keep(question(5), Response(output="shared"))
        await here.close()
        there = opened(tmp_path / "there", tier=S3Tier(bucket))
        assert await there.find_shared(question(5)) == Response(output="shared")
        await there.close()
        offline = opened(tmp_path / "there")
        assert offline.find(question(5)) == Response(output="shared")
        await offline.close()

    asyncio.run(work())


def test_answers_are_read_through_and_written_back(tmp_path: Path) -> None:
    async def work() -> None:
        async with shelf() as kept:
            one = opened(tmp_path / "one", tier=HttpTier(kept.url))
            assert await one.find_shared(question()) is None
            one.keep(question(), Response(output="x"))
            await one.close()
            assert len(kept.kept) == 1
            two = opened(tmp_path / "two", tier=HttpTier(kept.url))
            assert two.find(question()) is None
            assert await two.find_shared(question()) == Response(output="x")
            assert two.find(question()) == Response(output="x")
            await two.close()
            three = opened(tmp_path / "three", tier=HttpTier(kept.url), only=True)
            assert await three.find_shared(question()) == Response(output="x")
            await three.close()
            assert not (tmp_path / "three").exists()
            assert kept.seen == ["GET", "HEAD", "PUT", "GET", "GET"]

    asyncio.run(work())


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>not found</html>",
        b"\x78\x01junk",
        body_of(0)[:-20],
        body_of(1),
        b"[" * 200_000,
        b'{"v":1}\n{"output":"x"}',
    ],
)
def test_hostile_storage_is_not_believed(
    body: bytes, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with shelf() as kept:
            cache = opened(tmp_path, tier=HttpTier(kept.url))
            kept.kept[f"/answers/{question().key.removeprefix('sha256:')}"] = body
            assert await cache.find_shared(question()) is None
            assert cache.find(question()) is None
            await cache.close()

    asyncio.run(work())
    assert len(caplog.records) == 1
    assert "is not used" in caplog.records[0].message


@pytest.mark.parametrize("status", [401, 403, 500, 503, 301])
def test_storage_that_fails_is_given_up_with_one_warning(
    status: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        async with shelf() as kept:
            kept.status = status
            cache = opened(tmp_path, tier=HttpTier(kept.url))
            for number in range(5):
                assert await cache.find_shared(question(number)) is None
                cache.keep(question(number), Response(output="x"))
            await cache.close()
            assert kept.seen == ["GET"]

    asyncio.run(work())
    assert [record.message for record in caplog.records] == [
        message for message in (caplog.records[0].message,) if f"HTTP {status}" in message
    ]


def test_storage_that_takes_nothing_is_still_read(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        async with shelf() as kept:
            cache = opened(tmp_path, tier=HttpTier(kept.url))
            assert await cache.find_shared(question(0)) is None
            kept.status = 403
            for number in range(20):
                cache.keep(question(number), Response(output="x"))
            await asyncio.sleep(0.1)
            kept.status = None
            kept.kept[f"/answers/{question(77).key.removeprefix('sha256:')}"] = body_of(77)
            assert await cache.find_shared(question(77)) is not None
            await cache.close()

    asyncio.run(work())
    assert len(caplog.records) == 1
    assert "not shared any more" in caplog.records[0].message


def tier_at(url: str, kind: str) -> Tier:
    if kind == "http":
        return HttpTier(url)
    return S3Tier(S3Settings(bucket="answers", endpoint=url, force_path_style=True))


@pytest.mark.parametrize("kind", ["http", "s3"])
def test_storage_that_is_not_there_is_given_up(
    kind: str, credentials: None, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def work() -> None:
        cache = opened(tmp_path, tier=tier_at(f"http://127.0.0.1:{free_port()}", kind))
        for number in range(3):
            assert await cache.find_shared(question(number)) is None
            cache.keep(question(number), Response(output=f"x{number}"))
            assert cache.find(question(number)) == Response(output=f"x{number}")
        await cache.close()

    asyncio.run(work())
    assert len(caplog.records) == 1
    assert "is not used any more in this run" in caplog.records[0].message


def test_slow_storage_never_holds_up_the_one_who_keeps(tmp_path: Path) -> None:
    async def work() -> None:
        async with shelf() as kept:
            kept.delay_s = 0.2
            cache = opened(tmp_path, tier=HttpTier(kept.url))
            for number in range(8):
                cache.keep(question(number), Response(output="x"))
            assert kept.kept == {}
            await cache.close()
            assert len(kept.kept) == 8

    asyncio.run(work())


def test_bounds_on_what_waits_to_be_shared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenhand.cache import sharing

    monkeypatch.setattr(sharing, "MAX_WAITING", 3)

    async def work() -> Any:
        async with shelf() as kept:
            cache = opened(tmp_path, tier=HttpTier(kept.url))
            for number in range(10):
                cache.keep(question(number), Response(output="x"))
            await cache.close()
            return len(kept.kept)

    assert asyncio.run(work()) == 3
