"""The viewer as a server on loopback: addresses, and who answers them.

Every page is data first: `/runs/ID` shows what `/runs/ID.json` says.
"""

from __future__ import annotations

import asyncio
import mimetypes
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from aiohttp import web

from evenhand.errors import EvenhandError, UsageError
from evenhand.store.verdicts import keep_verdict
from evenhand.template import authored
from evenhand.web.pages.case import case_page
from evenhand.web.pages.compare import compare_page
from evenhand.web.pages.kept import kept_answer_page, kept_page, wanted_of
from evenhand.web.pages.matrix import matrix_page
from evenhand.web.pages.run import run_page
from evenhand.web.pages.runs import RunQuery, as_it_stands, runs_page
from evenhand.web.pages.side_by_side import side_page
from evenhand.web.pages.verdict import verdict_of
from evenhand.web.queries import CaseQuery
from evenhand.web.rendering import STATIC, html
from evenhand.web.security import guard
from evenhand.web.site import Site

HOST = "127.0.0.1"
DEFAULT_PORT = 8300

MAX_FORM_BYTES = 64 << 10
"""Size of what a form may send."""

SITE = web.AppKey("site", Site)

Page = Callable[[Site, web.Request], Awaitable[Any]]


def application(site: Site) -> web.Application:
    """The viewer, ready to be served."""
    app = web.Application(middlewares=[guard, _explained], client_max_size=MAX_FORM_BYTES)
    app[SITE] = site
    for address, template, page in PAGES:
        app.router.add_get(f"{address}.json", _as_json(page))
        app.router.add_get(address, _as_html(page, template))
    app.router.add_post("/runs/{run:[^/.]+}/cases/{case:[^/.]+}/verdict", _verdict)
    app.router.add_get("/", _to_runs)
    app.router.add_get("/static/{name}", _static)
    return app


async def serve(site: Site, port: int, ready: Callable[[str], None]) -> None:
    """Answer until cancelled; `ready` is told the address once it can be opened. Raises `UsageError`."""
    runner = web.AppRunner(application(site), access_log=None, shutdown_timeout=1)
    await runner.setup()
    try:
        try:
            await web.TCPSite(runner, HOST, port).start()
        except OSError as error:
            raise UsageError(
                f"port {port} cannot be used: {error.strerror}; name another with `--port`, or 0 for any"
            ) from None
        ready(f"http://{HOST}:{runner.addresses[0][1]}/")
        await asyncio.Event().wait()
    finally:
        await runner.cleanup()


def _parameters(request: web.Request) -> dict[str, list[str]]:
    return {name: request.query.getall(name) for name in request.query}


async def _runs(site: Site, request: web.Request) -> Any:
    query = RunQuery.of(_parameters(request))
    return await site.ask(lambda: runs_page(site.store, query))


async def _run(site: Site, request: web.Request) -> Any:
    run = await site.run(request.match_info["run"])
    query = CaseQuery.of(_parameters(request))
    is_indexed = await site.indexed(run)
    stands = await site.ask(lambda: as_it_stands(site.store, run))
    return await site.ask(lambda: run_page(site.index, stands, query, is_indexed=is_indexed))


async def _case(site: Site, request: web.Request) -> Any:
    run = await site.run(request.match_info["run"])
    query = CaseQuery.of(_parameters(request))
    await site.indexed(run)
    case = await site.ask(lambda: site.store.result(run.run_id, request.match_info["case"]))
    if case is None:
        raise UsageError(f"run {run.run_id} has no case with the key {request.match_info['case']!r}")
    against = request.query.get("against", "")
    return await site.ask(lambda: case_page(site, run, case, query, against))


async def _side_by_side(site: Site, request: web.Request) -> Any:
    runs = [await site.run(reference) for reference in dict.fromkeys(request.query.getall("run", []))]
    offset = CaseQuery.of(_parameters(request)).offset
    is_indexed = all([await site.indexed(run) for run in runs])
    return await site.ask(lambda: side_page(site.index, runs, offset, is_indexed=is_indexed))


async def _kept(site: Site, request: web.Request) -> Any:
    wanted = wanted_of(request.query)
    return await site.ask(lambda: kept_page(site.kept_answers, wanted))


async def _kept_answer(site: Site, request: web.Request) -> Any:
    key = request.match_info["key"]
    return await site.ask(lambda: kept_answer_page(site.kept_answers, key))


async def _verdict(request: web.Request) -> web.Response:
    """Keep what a person said, and show the case again."""
    site = request.app[SITE]
    run = await site.run(request.match_info["run"])
    key = request.match_info["case"]
    case = await site.ask(lambda: site.store.result(run.run_id, key))
    if case is None:
        raise UsageError(f"run {run.run_id} has no case with the key {key!r}")
    verdict = verdict_of(case, await request.post())
    await site.ask(lambda: keep_verdict(site.state, verdict))
    raise web.HTTPSeeOther(f"/runs/{run.run_id}/cases/{key}")


async def _matrix(site: Site, request: web.Request) -> Any:
    run = await site.run(request.match_info["run"])
    offset = CaseQuery.of(_parameters(request)).offset
    is_indexed = await site.indexed(run)
    return await site.ask(lambda: matrix_page(site.index, run, offset, is_indexed=is_indexed))


async def _compare(site: Site, request: web.Request) -> Any:
    base, head = request.query.get("base", ""), request.query.get("head", "")
    return await site.ask(lambda: compare_page(site.store, base, head))


PAGES: tuple[tuple[str, str, Page], ...] = (
    ("/runs", "runs.html", _runs),
    ("/runs/{run:[^/.]+}", "run.html", _run),
    ("/runs/{run:[^/.]+}/rows", "case_rows.html", _run),
    ("/runs/{run:[^/.]+}/matrix", "matrix.html", _matrix),
    ("/compare", "compare.html", _compare),
    ("/side-by-side", "side_by_side.html", _side_by_side),
    ("/cache", "kept.html", _kept),
    ("/cache/{key:[^/.]+}", "kept_answer.html", _kept_answer),
    ("/runs/{run:[^/.]+}/cases/{case:[^/.]+}", "case.html", _case),
)
"""Every page: its address, its template, and what it shows."""


def _as_html(page: Page, template: str) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        data = await page(request.app[SITE], request)
        text = await asyncio.to_thread(html, template, page=data, here=request.path, twin=_twin(request))
        return web.Response(text=text, content_type="text/html")

    return answer


def _as_json(page: Page) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def answer(request: web.Request) -> web.Response:
        data = await page(request.app[SITE], request)
        body = msgspec.json.encode(data, enc_hook=authored)
        return web.Response(body=body, content_type="application/json")

    return answer


def _twin(request: web.Request) -> str:
    query = request.rel_url.raw_query_string
    return f"{request.rel_url.raw_path}.json{'?' if query else ''}{query}"


async def _to_runs(_: web.Request) -> web.Response:
    raise web.HTTPFound("/runs")


async def _static(request: web.Request) -> web.Response:
    name = request.match_info["name"]
    file = next((each for each in STATIC.iterdir() if each.name == name), None)
    if file is None:
        raise web.HTTPNotFound(text="there is no such file\n")
    return web.Response(body=file.read_bytes(), content_type=mimetypes.guess_type(name)[0] or "text/plain")


@web.middleware
async def _explained(
    request: web.Request, handler: Callable[[web.Request], Awaitable[web.StreamResponse]]
) -> web.StreamResponse:
    """Expected failures as a page that says what is wrong."""
    try:
        return await handler(request)
    except EvenhandError as error:
        status = 404 if isinstance(error, UsageError) else 500
        if request.path.endswith(".json"):
            return web.json_response({"error": str(error)}, status=status)
        text = html("problem.html", message=str(error), here=request.path, twin="")
        return web.Response(status=status, text=text, content_type="text/html")
