"""`now` and its formats."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope


def render(source: str) -> str:
    return Engine().render(source, Scope({}))


def test_time_runs_where_nothing_freezes_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENHAND_NOW", raising=False)
    monkeypatch.delenv("DOMARINN_NOW", raising=False)
    before = datetime.now(UTC)
    told = datetime.fromisoformat(render("{{ now() }}"))
    assert before <= told <= datetime.now(UTC)


@pytest.mark.parametrize("variable", ["EVENHAND_NOW", "DOMARINN_NOW"])
def test_environment_freezes_the_time(monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.delenv("EVENHAND_NOW", raising=False)
    monkeypatch.setenv(variable, "2024-02-29T23:30:05+02:00")
    assert render("{{ now() }}") == "2024-02-29T21:30:05+00:00"


def test_own_variable_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENHAND_NOW", "2024-01-01T00:00:00Z")
    monkeypatch.setenv("DOMARINN_NOW", "2030-01-01T00:00:00Z")
    assert render("{{ now('%Y') }}") == "2024"


@pytest.mark.parametrize("value", ["yesterday", "2024-01-01T00:00:00", "12:00"])
def test_frozen_time_that_is_none_is_an_error(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("EVENHAND_NOW", value)
    with pytest.raises(TemplateError, match="`EVENHAND_NOW`") as caught:
        render("{{ now() }}")
    assert not caught.value.depends_on_data


FROZEN = "2024-03-07T09:05:03.040500Z"


@pytest.mark.parametrize(
    ("style", "text"),
    [
        ("%Y-%m-%d %H:%M:%S", "2024-03-07 09:05:03"),
        ("%F %T %D %R %r %X %x", "2024-03-07 09:05:03 03/07/24 09:05 09:05:03 AM 09:05:03 03/07/24"),
        ("%a %A %b %B %h %p %P", "Thu Thursday Mar March Mar AM am"),
        ("%j %U %W %V %G %g %u %w %C %y", "067 09 10 10 2024 24 4 4 20 24"),
        ("%e|%k|%l|%I", " 7| 9| 9|09"),
        ("%-d|%_d|%0e|%-H|%-j", "7| 7|07|9|67"),
        (
            "%.f|%.3f|%.6f|%.9f|%3f|%6f|%9f|%f",
            ".040500|.040|.040500|.040500000|040|040500|040500000|040500000",
        ),
        ("%z %:z %Z %s", "+0000 +00:00 UTC 1709802303"),
        ("%c|%v|%+", "Thu Mar  7 09:05:03 2024| 7-Mar-2024|2024-03-07T09:05:03.040500+00:00"),
        ("%%%t%n%%Y", "%\t\n%Y"),
        ("plain", "plain"),
        ("", ""),
    ],
)
def test_time_is_written_in_a_format(monkeypatch: pytest.MonkeyPatch, style: str, text: str) -> None:
    monkeypatch.setenv("EVENHAND_NOW", FROZEN)
    assert Engine().render("{{ now(style) }}", Scope({"style": style})) == text


@pytest.mark.parametrize("letter", list("YCymdejHIMSUWVGuwaAbBpcxXDFTRr"))
def test_format_agrees_with_the_system(monkeypatch: pytest.MonkeyPatch, letter: str) -> None:
    for moment in (
        "2023-01-01T00:00:00Z",
        "2024-12-31T23:59:59Z",
        "2025-06-15T12:00:00Z",
        "2021-01-03T13:01:00Z",
    ):
        monkeypatch.setenv("EVENHAND_NOW", moment)
        expected = datetime.fromisoformat(moment).strftime(f"%{letter}")
        assert render(f"{{{{ now('%{letter}') }}}}") == expected


@pytest.mark.parametrize("style", ["%Q", "%", "%-", "%E", "a %4f", "%-a", "%é"])
def test_bad_format_is_an_error(style: str) -> None:
    with pytest.raises(TemplateError, match="unknown directive") as caught:
        Engine().render("{{ now(style) }}", Scope({"style": style}))
    assert not caught.value.depends_on_data
