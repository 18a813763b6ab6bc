"""The filter `regex_replace`, where its arguments do not fit each other."""

from __future__ import annotations

import pytest

from evenhand.errors import TemplateError
from evenhand.template import Engine, Scope


def test_a_replacement_that_names_no_group_of_the_pattern_is_told_from_a_wrong_pattern() -> None:
    with pytest.raises(TemplateError, match=r"cannot use the replacement: .*1x"):
        Engine().render("{{ text | regex_replace('(b)', '$1x') }}", Scope({"text": "abc"}))
