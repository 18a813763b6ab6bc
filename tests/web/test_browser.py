"""The pages in a real browser."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from aiohttp.test_utils import TestServer

from evenhand.model.outcome import Status
from evenhand.model.result import AssertResult, CellKey, Run
from evenhand.web.server import application
from evenhand.web.site import Site
from support.browser import Page, browser
from support.node_packages import node_packages
from support.viewed import OLDER, RUN_ID, a_case, a_failure, keep

Visit = Callable[[Page, str], Awaitable[None]]

HOSTILE = (
    "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
    "[click](javascript:window.hit=1) \x1b[2J \u202egnp.exe \x00 ]]> </pre></main>"
)


@pytest.fixture
def visit(site: Site) -> Callable[[Visit], Page]:
    """Shows the viewer to a browser: the visit gets the tab and the viewer's address."""

    def call(visiting: Visit) -> Page:
        async def go() -> Page:
            async with TestServer(application(site)) as server, browser() as page:
                await page.resize(1280)
                await visiting(page, str(server.make_url("")).rstrip("/"))
                return page

        return asyncio.run(go())

    return call


def test_a_person_goes_from_the_runs_to_a_failure_by_keyboard(visit, add) -> None:
    add(a_case(0), a_failure(1), a_failure(2))

    async def by_keyboard(page: Page, address: str) -> None:
        await page.open(f"{address}/runs")
        await page.follow("document.querySelector('td a').click()")
        await page.until("document.querySelectorAll('a.row').length === 3")
        await page.follow(
            "document.querySelector('select[name=status]').value = 'fail', "
            "document.querySelector('form').requestSubmit()"
        )
        assert await page.run("location.search") == "?status=fail"
        await page.press("j")
        await page.press("j")
        await page.follow("document.activeElement.click()")
        assert "case-2" in await page.run("document.querySelector('h1').textContent")
        await page.follow("document.querySelector('a[rel=prev]').click()")
        assert "case-1" in await page.run("document.querySelector('h1').textContent")

    assert visit(by_keyboard).problems == []


def test_a_long_list_scrolls_to_any_place_without_jumps(visit, add) -> None:
    add(*(a_case(n) for n in range(1_000)))

    async def scrolling(page: Page, address: str) -> None:
        await page.open(f"{address}/runs/{RUN_ID}")
        # The run may still be read when the page first shows; the list then grows to its full height.
        await page.until("document.querySelector('.cases.long')?.offsetHeight >= 58 * 1000")
        height = await page.run("document.documentElement.scrollHeight")
        await page.run("scrollTo(0, document.querySelector('.cases').offsetTop + 58 * 700)")
        await page.until(
            "[...document.querySelectorAll('a.row')].some(r => r.textContent.includes('case-700'))"
        )
        row = "[...document.querySelectorAll('a.row')].find(r => r.textContent.includes('case-700'))"
        assert abs(await page.run(f"{row}.getBoundingClientRect().top")) < 3
        assert await page.run("document.documentElement.scrollHeight") == height
        await page.until("location.search === '?offset=700'")
        assert await page.run("document.querySelectorAll('a.row').length") <= 1_300

    assert visit(scrolling).problems == []


def test_a_run_in_progress_grows_on_the_page(visit, store) -> None:
    writer = store.begin(Run(run_id=RUN_ID, suite="live"))
    writer.add(a_case(0))
    writer.flush()

    async def watching(page: Page, address: str) -> None:
        await page.open(f"{address}/runs/{RUN_ID}")
        await page.until("document.querySelectorAll('a.row').length === 1")
        for number in range(1, 5):
            writer.add(a_case(number))
        writer.flush()
        await page.until("document.querySelectorAll('a.row').length === 5")

    assert visit(watching).problems == []


def test_a_run_that_begins_appears_in_the_list(visit, add, store) -> None:
    add(a_case(0))

    async def watching(page: Page, address: str) -> None:
        await page.open(f"{address}/runs")
        await page.until("document.querySelectorAll('tbody tr').length === 1")
        writer = store.begin(
            Run(run_id="01J0000000000000000000LIVE", suite="live", started_at="2026-12-01T00:00:00Z")
        )
        writer.add(a_case(1))
        writer.flush()
        await page.until("document.querySelectorAll('tbody tr').length === 2")
        await page.until("document.querySelector('tbody tr').textContent.includes('1 passed')")
        assert await page.run("document.querySelector('.word').textContent") == "running"

    assert visit(watching).problems == []


def test_nothing_that_a_model_wrote_runs(visit, add) -> None:
    add(a_failure(0, reason=HOSTILE, output=HOSTILE), a_case(1, output={"<b>": [HOSTILE]}))

    async def looking(page: Page, address: str) -> None:
        await page.open(f"{address}/runs/{RUN_ID}")
        await page.until("document.querySelectorAll('a.row').length === 2")
        for link in await page.run("[...document.querySelectorAll('a.row')].map(r => r.href)"):
            await page.open(link)
            assert await page.run("window.hit") is None
            assert (
                await page.run("document.querySelectorAll('img, iframe, a[href^=\"javascript\"]').length")
                == 0
            )
            assert "<script>window.hit" in await page.run("document.body.textContent")

    assert visit(looking).problems == []


def test_answers_of_any_size_and_kind_are_shown_and_nothing_in_them_runs(visit, add) -> None:
    many = tuple(
        AssertResult(kind="contains", status=Status.PASS, score=1.0, reason=HOSTILE) for _ in range(10_000)
    )
    add(a_case(0, output="x" * 5_000_000), a_case(1, asserts=many), a_case(2, output=HOSTILE * 20_000))

    async def looking(page: Page, address: str) -> None:
        await page.open(f"{address}/runs/{RUN_ID}")
        await page.until("document.querySelectorAll('a.row').length === 3")
        for link in await page.run("[...document.querySelectorAll('a.row')].map(r => r.href)"):
            await page.open(link)
            assert await page.run("window.hit") is None
            assert await page.run("document.querySelectorAll('main > section').length") >= 2
            twin = await page.run("fetch(document.querySelector('a.twin').href).then(a => a.json())")
            assert twin["result"]["status"] == "pass"

    assert visit(looking).problems == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [360, 1280, 1920])
def test_every_page_is_usable_at_any_width_and_in_any_scheme(
    width: int, scheme: str, visit, add, site
) -> None:
    long = CellKey(provider_id="app", prompt_id="ask", test_id="long-" * 40 + "x" * 100)
    cases = (a_case(2, output="x" * 5_000), a_failure(3, reason="x" * 300, cell=long))
    add(a_case(0), a_case(1), *cases, run_id=OLDER)
    add(a_case(0), a_failure(1, reason="long " * 100, output="word " * 500), *cases)
    key = keep(site, {"prompt": "x" * 2_000}, test="long-" * 40)
    axe = node_packages("axe-core@4.11.0").folder / "axe-core" / "axe.min.js"
    script = axe.read_text(encoding="utf-8")

    async def looking(page: Page, address: str) -> None:
        await page.resize(width, scheme=scheme)
        await page.open(f"{address}/runs/{RUN_ID}")
        await page.until("document.querySelectorAll('a.row').length === 4")
        pages = {
            "runs": "/runs",
            "run": f"/runs/{RUN_ID}",
            "case": f"/runs/{RUN_ID}/cases/{a_case(1).case_key}?against={OLDER}",
            "long case": f"/runs/{RUN_ID}/cases/{a_failure(3, cell=long).case_key}",
            "matrix": f"/runs/{RUN_ID}/matrix",
            "compare": f"/compare?base={OLDER}&head={RUN_ID}",
            "side by side": f"/side-by-side?run={OLDER}&run={RUN_ID}",
            "cache": "/cache",
            "kept answer": f"/cache/{key}",
        }
        for name, link in pages.items():
            await page.open(f"{address}{link}")
            await page.screenshot(f"{name}-{width}-{scheme}")
            assert await page.run("document.documentElement.scrollWidth") <= width, name
            await page.run(f"{script}; true")
            found = await page.run(
                "axe.run().then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact))"
                ".map(v => v.id + ': ' + v.nodes.map(n => n.target).join(' ')))"
            )
            assert found == [], name

    visit(looking)
