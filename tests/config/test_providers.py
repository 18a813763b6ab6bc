"""What a suite is told about the options that all providers share."""

from __future__ import annotations

from evenhand.config.providers import unkept
from evenhand.providers.echo import Echo
from support.suites import Silent


def test_cache_of_a_type_whose_answers_cannot_be_kept_draws_a_warning() -> None:
    (warning,) = unkept(Silent(id="s", cache=True))
    assert warning.path == ("cache",)
    assert warning.message == "answers of type 'silent' cannot be kept: every question is put anew"
    for provider in (Silent(id="s"), Silent(id="s", cache=False), Echo(id="e", cache=True)):
        assert not list(unkept(provider))
