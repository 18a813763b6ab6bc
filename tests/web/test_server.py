"""The viewer's pages over a real connection."""

from __future__ import annotations

import asyncio
import html
import json
import re
import socket

import pytest

from evenhand.errors import UsageError
from evenhand.web.server import serve
from support.viewed import RUN_ID, a_case, a_failure

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>\"'&"


def links(page: str, name: str) -> list[str]:
    return [html.unescape(link) for link in re.findall(rf'{name}" href="([^"]+)"', page)]


def test_the_address_of_the_viewer_leads_to_the_runs(browse) -> None:
    status, headers, _ = browse("/")
    assert (status, headers["Location"]) == (302, "/runs")


def test_without_any_run_the_page_says_how_to_start_one(browse) -> None:
    assert "evenhand run" in browse("/runs")[2]


def test_pages_lead_from_the_runs_to_a_case_and_on_to_its_neighbour(browse, add) -> None:
    add(a_case(0), a_failure(1), a_failure(2))
    assert f'href="/runs/{RUN_ID}"' in browse("/runs")[2]
    cases = links(browse(f"/runs/{RUN_ID}?status=fail")[2], "row")
    assert [link.rpartition("?")[2] for link in cases] == ["status=fail&at=0", "status=fail&at=1"]
    page = browse(cases[0])[2]
    assert "case-1" in page
    assert "output does not contain" in page
    assert f"{cases[0].rpartition('/')[0]}/{links(page, 'next')[0]}" == cases[1]
    assert "case-2" in browse(cases[1])[2]


@pytest.mark.parametrize("address", ["/runs", f"/runs/{RUN_ID}", f"/runs/{RUN_ID}?q=answer&order=worst"])
def test_every_page_names_its_twin_in_json(address: str, browse, add) -> None:
    add(a_case(0))
    (twin,) = links(browse(address)[2], "twin")
    status, headers, text = browse(twin)
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert json.loads(text)


def test_text_of_a_model_is_text_on_every_page(browse, add) -> None:
    add(a_failure(0, reason=HOSTILE, output=HOSTILE))
    run = browse(f"/runs/{RUN_ID}")[2]
    for page in (run, browse(links(run, "row")[0])[2]):
        assert "&lt;script&gt;" in page
        assert "<script>alert" not in page
        assert "<img" not in page


@pytest.mark.parametrize(
    "address", ["/runs/01NOSUCHRUN", f"/runs/{RUN_ID}/cases/0000000000000000", f"/runs/{RUN_ID}/cases/x"]
)
def test_what_is_not_there_is_told_as_such(address: str, browse, add) -> None:
    add(a_case(0))
    status, _, text = browse(address)
    assert status == 404
    assert "Nothing here" in text
    status, _, text = browse(f"{address}.json")
    assert status == 404
    assert re.search("there is no run|has no case", json.loads(text)["error"])


@pytest.mark.parametrize("name", ["..%2fserver.py", "%2e%2e%2fserver.py", "nothing.css"])
def test_only_files_of_the_viewer_are_handed_out(name: str, browse) -> None:
    assert browse(f"/static/{name}")[0] == 404


def test_a_port_that_is_taken_is_told(site) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=rf"port {port} cannot be used: .*; name another with `--port`"):
            asyncio.run(serve(site, port, print))
