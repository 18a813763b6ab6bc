"""Who may talk to the viewer."""

from __future__ import annotations

import pytest

from evenhand.web.security import is_loopback


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.1:8300", "localhost:1", "[::1]:80", "LOCALHOST"])
def test_loopback_is_known_by_its_names(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize(
    "host", ["", "evil.example", "127.0.0.1.evil.example", "localhost.evil.example:80", "[::1", "0.0.0.0"]
)
def test_any_other_name_is_refused(host: str) -> None:
    assert not is_loopback(host)


def test_a_name_that_was_made_to_lead_to_loopback_is_refused(browse) -> None:
    status, _, text = browse("/runs", headers={"Host": "evil.example"})
    assert (status, text) == (403, "the viewer answers at 127.0.0.1 and localhost only\n")


@pytest.mark.parametrize("origin", ["cross-site", "same-site"])
def test_pages_from_elsewhere_cannot_look_into_the_viewer(origin: str, browse) -> None:
    assert browse("/runs.json", headers={"Sec-Fetch-Site": origin, "Sec-Fetch-Mode": "cors"})[0] == 403
    assert browse("/runs", headers={"Sec-Fetch-Site": origin, "Sec-Fetch-Mode": "navigate"})[0] == 200


@pytest.mark.parametrize("headers", [{}, {"Origin": "null"}, {"Origin": "http://evil.example"}])
def test_nothing_is_changed_from_elsewhere(headers: dict[str, str], browse) -> None:
    assert browse("/runs", "POST", headers)[0] == 403


@pytest.mark.parametrize(
    "address", ["/runs", "/runs.json", "/static/app.js", "/nowhere", "/runs/01NOSUCHRUN"]
)
def test_every_answer_forbids_what_does_not_come_from_the_viewer(address: str, browse) -> None:
    _, headers, _ = browse(address)
    policy = headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert "Access-Control-Allow-Origin" not in headers
