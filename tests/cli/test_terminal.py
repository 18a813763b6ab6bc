from __future__ import annotations

import io

import pytest

from evenhand.cli.terminal import WIDEST, Terminal, is_terminal, note, width


class Tty(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("choice", "stream", "environ", "expected"),
    [
        ("auto", Tty(), {}, True),
        ("auto", Tty(), {"TERM": "dumb"}, False),
        ("auto", Tty(), {"NO_COLOR": "1"}, False),
        ("auto", Tty(), {"NO_COLOR": ""}, True),
        ("auto", io.StringIO(), {}, False),
        ("auto", io.StringIO(), {"FORCE_COLOR": "1"}, True),
        ("auto", Tty(), {"NO_COLOR": "1", "FORCE_COLOR": "1"}, False),
        ("always", io.StringIO(), {"NO_COLOR": "1"}, True),
        ("never", Tty(), {"FORCE_COLOR": "1"}, False),
    ],
)
def test_colours_follow_what_was_asked_for_and_then_the_environment(
    choice: str, stream: io.StringIO, environ: dict[str, str], expected: bool
) -> None:
    assert Terminal(choice).has_color(stream, environ) is expected


def test_a_closed_stream_is_no_terminal() -> None:
    stream = io.StringIO()
    stream.close()
    assert not is_terminal(stream)


def test_the_page_is_as_wide_as_the_terminal_within_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "72")
    assert width() == 72
    monkeypatch.setenv("COLUMNS", "400")
    assert width() == WIDEST


def test_notes_are_one_safe_line_on_the_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    note("a\x1b[2Jb\nc")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "a\\x1b[2Jb\\nc\n")
