"""The viewer, started from the command line."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
import threading
import webbrowser
from collections.abc import Iterator, Mapping
from pathlib import Path

from evenhand.api import open_run_store
from evenhand.cli import stored
from evenhand.cli.locate import suite_directory
from evenhand.cli.terminal import is_terminal, note
from evenhand.config.locate_suite import locate_suite
from evenhand.errors import SuiteError, UsageError
from evenhand.store.state import VIEW_INDEX_NAME, state_directory
from evenhand.store.store import LATEST, RunStore
from evenhand.web.case_index import CaseIndex
from evenhand.web.server import DEFAULT_PORT, serve
from evenhand.web.site import Site


def serve_pages(suite: Path, reference: str, port: int | None) -> int:
    """Serve the runs of a suite's folder until Ctrl-C. `reference` is the run whose address is printed."""
    directory = state_directory(suite_directory(suite), os.environ)
    with _opened(suite, directory) as store:
        run = None if reference == LATEST else store.find(reference)
        index = CaseIndex(directory / VIEW_INDEX_NAME if directory.is_dir() else None)
        site = Site(store, index, directory)

        def tell(address: str) -> None:
            page = f"{address}{f'runs/{run.run_id}' if run else ''}"
            note(f"runs at {page} (Ctrl-C ends this)")
            open_for_a_person(page)

        try:
            asyncio.run(serve(site, DEFAULT_PORT if port is None else port, tell))
        except KeyboardInterrupt:
            return 0
        finally:
            site.close()
    return 0


@contextlib.contextmanager
def _opened(suite: Path, state: Path) -> Iterator[RunStore]:
    """The run store to show: a suite's may still be empty, and its first run is to appear."""
    if state.is_dir() or not _is_suite(suite):
        with stored.opened(suite) as store:
            yield store
    else:
        with open_run_store(suite_directory(suite)) as store:
            yield store


def _is_suite(path: Path) -> bool:
    try:
        return locate_suite(path).is_file()
    except SuiteError:
        return False


@contextlib.contextmanager
def following(suite: Path) -> Iterator[None]:
    """Serve pages beside what goes on in the block and after it, until Ctrl-C; the address is printed at once.

    A port that is taken is no reason not to run: another one is used then.
    """
    directory = suite_directory(suite)
    state = state_directory(directory, os.environ)
    with open_run_store(directory) as store:
        site = Site(store, CaseIndex(state / VIEW_INDEX_NAME), state)
        loop = asyncio.new_event_loop()
        serving = loop.create_task(_serve_anywhere(site))
        ended = threading.Event()
        thread = threading.Thread(target=_run, args=(loop, serving, ended), name="evenhand-view", daemon=True)
        thread.start()
        try:
            yield
            note("the pages stay until Ctrl-C")
            with contextlib.suppress(KeyboardInterrupt):
                ended.wait()  # not `join`: interrupted, that takes the thread for ended
        finally:
            loop.call_soon_threadsafe(serving.cancel)
            thread.join()
            loop.close()
            site.close()


async def _serve_anywhere(site: Site) -> None:
    def tell(address: str) -> None:
        note(f"runs at {address}")
        open_for_a_person(address)

    try:
        await serve(site, DEFAULT_PORT, tell)
    except UsageError:
        await serve(site, 0, tell)


def open_for_a_person(address: str, environ: Mapping[str, str] = os.environ) -> None:
    """Open a page in the browser, where a person sits before this terminal and has one that brings its own window.

    `BROWSER` names one; an empty one stands for none.
    """
    if not is_terminal(sys.stderr) or environ.get("CI") or environ.get("BROWSER") == "":
        return
    has_screen = sys.platform in ("darwin", "win32") or any(
        environ.get(name) for name in ("BROWSER", "DISPLAY", "WAYLAND_DISPLAY")
    )
    if has_screen:
        # Not here, where the pages are served: some browsers are waited for, and they wait for the page.
        threading.Thread(target=_open, args=(address,), name="evenhand-browser", daemon=True).start()


def _open(address: str) -> None:
    with contextlib.suppress(webbrowser.Error, OSError):
        webbrowser.open(address)


def _run(loop: asyncio.AbstractEventLoop, serving: asyncio.Task[None], ended: threading.Event) -> None:
    try:
        with contextlib.suppress(asyncio.CancelledError):
            loop.run_until_complete(serving)
    finally:
        ended.set()
