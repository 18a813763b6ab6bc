"""The viewer, started from the command line."""

from __future__ import annotations

import asyncio
import os
from pathlib import Path

from evenhand.cli import stored
from evenhand.cli.locate import suite_directory
from evenhand.cli.terminal import note
from evenhand.store.state import VIEW_INDEX_NAME, state_directory
from evenhand.store.store import LATEST
from evenhand.web.case_index import CaseIndex
from evenhand.web.server import DEFAULT_PORT, serve
from evenhand.web.site import Site


def serve_pages(suite: Path, reference: str, port: int | None) -> int:
    """Serve the runs of a suite's folder until Ctrl-C. `reference` is the run whose address is printed."""
    directory = state_directory(suite_directory(suite), os.environ)
    with stored.opened(suite) as store:
        run = None if reference == LATEST else store.find(reference)
        index = CaseIndex(directory / VIEW_INDEX_NAME if directory.is_dir() else None)
        site = Site(store, index)

        def tell(address: str) -> None:
            note(f"runs at {address}{f'runs/{run.run_id}' if run else ''} (Ctrl-C ends this)")

        try:
            asyncio.run(serve(site, DEFAULT_PORT if port is None else port, tell))
        except KeyboardInterrupt:
            return 0
        finally:
            site.close()
    return 0
