"""A real headless Chromium, driven over its DevTools protocol."""

from __future__ import annotations

import asyncio
import base64
import contextlib
import itertools
import json
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import aiohttp

NAMES = ("chromium", "chromium-browser", "google-chrome")

FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--remote-debugging-port=0",
    "--hide-scrollbars", "--force-device-scale-factor=1",
)  # fmt: skip

SCREENSHOTS = Path(__file__).parents[2] / ".screenshots"

PATIENCE_S = 60


class Page:
    """One tab. `problems` holds what the browser complained of: refused content, errors of scripts, dialogs."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[Any]] = {}
        self._loaded = asyncio.Event()
        self.problems: list[str] = []
        self._reading = asyncio.create_task(self._read())

    async def send(self, method: str, **parameters: Any) -> Any:
        """The result of one command of the protocol."""
        number = next(self._numbers)
        answer: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self._waiting[number] = answer
        await self._socket.send_json({"id": number, "method": method, "params": parameters})
        return await asyncio.wait_for(answer, PATIENCE_S)

    async def open(self, address: str) -> None:
        """Go to an address and wait until it is loaded."""
        self._loaded.clear()
        await self.send("Page.navigate", url=address)
        await asyncio.wait_for(self._loaded.wait(), PATIENCE_S)

    async def follow(self, script: str) -> None:
        """Run a script that leads to another page, and wait until that is loaded."""
        self._loaded.clear()
        await self.run(script)
        await asyncio.wait_for(self._loaded.wait(), PATIENCE_S)

    async def run(self, script: str) -> Any:
        """The value of an expression in the page; a promise is waited for."""
        done = await self.send("Runtime.evaluate", expression=script, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in done:
            raise AssertionError(done["exceptionDetails"].get("exception", {}).get("description", done))
        return done["result"].get("value")

    async def until(self, condition: str) -> None:
        """Wait until an expression in the page is true."""
        async with asyncio.timeout(PATIENCE_S):
            while not await self.run(condition):  # noqa: ASYNC110  (the other side is a browser)
                await asyncio.sleep(0.02)

    async def press(self, key: str) -> None:
        """Press one key."""
        text = {"text": key} if len(key) == 1 else {}
        await self.send("Input.dispatchKeyEvent", type="keyDown", key=key, **text)
        await self.send("Input.dispatchKeyEvent", type="keyUp", key=key)

    async def resize(self, width: int, height: int = 900, *, scheme: str = "light") -> None:
        """Show the page in a window of this size and colour scheme."""
        await self.send(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        await self.send("Emulation.setEmulatedMedia", features=features)

    async def screenshot(self, name: str) -> None:
        """Keep a picture of the page among the artifacts of the tests."""
        SCREENSHOTS.mkdir(exist_ok=True)
        shot = await self.send("Page.captureScreenshot", format="png")
        (SCREENSHOTS / f"{name}.png").write_bytes(base64.b64decode(shot["data"]))

    async def close(self) -> None:
        self._reading.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await self._reading

    async def _read(self) -> None:
        async for message in self._socket:
            data = json.loads(message.data)
            if "id" in data:
                self._answered(data)
                continue
            method, parameters = data["method"], data.get("params", {})
            if method == "Page.loadEventFired":
                self._loaded.set()
            elif method == "Page.javascriptDialogOpening":
                self.problems.append(f"dialog: {parameters['message']}")
                await self._socket.send_json(
                    {"id": 0, "method": "Page.handleJavaScriptDialog", "params": {"accept": True}}
                )
            elif method == "Log.entryAdded" and parameters["entry"]["level"] in ("error", "warning"):
                self.problems.append(parameters["entry"]["text"])
            elif method == "Runtime.exceptionThrown":
                self.problems.append(str(parameters["exceptionDetails"]))

    def _answered(self, data: dict[str, Any]) -> None:
        answer = self._waiting.pop(data["id"], None)
        if answer is None or answer.done():
            return
        if "error" in data:
            answer.set_exception(AssertionError(data["error"]))
        else:
            answer.set_result(data["result"])


@contextlib.asynccontextmanager
async def browser() -> AsyncIterator[Page]:
    """A tab in a browser of its own, with an empty profile."""
    program = next(filter(None, map(shutil.which, NAMES)), None)
    assert program, "these tests need Chromium; `make test` installs it on Debian"
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        child = await asyncio.create_subprocess_exec(
            program,
            *FLAGS,
            f"--user-data-dir={profile}",
            stdout=asyncio.subprocess.DEVNULL,
            stderr=asyncio.subprocess.DEVNULL,
        )
        try:
            port = await _port(Path(profile) / "DevToolsActivePort")
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{port}/json/list") as answer:
                    tab = next(each for each in await answer.json() if each["type"] == "page")
                async with session.ws_connect(tab["webSocketDebuggerUrl"], max_msg_size=0) as socket:
                    page = Page(socket)
                    for domain in ("Page", "Runtime", "Log"):
                        await page.send(f"{domain}.enable")
                    yield page
                    await page.close()
        finally:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()


async def _port(file: Path) -> int:
    async with asyncio.timeout(PATIENCE_S):
        while True:
            with contextlib.suppress(OSError, IndexError, ValueError):
                return int(file.read_text(encoding="utf-8").splitlines()[0])  # noqa: ASYNC240
            await asyncio.sleep(0.02)
