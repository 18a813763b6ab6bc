from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.model.result import CaseResult
from evenhand.report import html
from support.results import SAMPLE_CASES, SAMPLE_RUN, assertion, case_results, cell_result, rendered, run_of


class Outline(HTMLParser):
    """The elements of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: set[str] = set()
        self.open: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "input", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


SENT = {"method": "POST", "url": "http://host/ask", "headers": {"X-A": "<b>"}, "body": '{"q":"why?"}'}


def test_what_was_sent_and_came_back_and_what_scripts_printed_is_on_the_page() -> None:
    printing = assertion("javascript", "pass", "so", 1.0, details={"console": ["looked at <i>", "and on"]})
    case = cell_result("t", "pass", assertion("all-of", "pass", "held", 1.0, parts=(printing,)), request=SENT)
    page = rendered("html", run_of([case]), [case])
    assert "POST http://host/ask\nX-A: &lt;b&gt;\n\n{\n  &quot;q&quot;: &quot;why?&quot;\n}" in page
    assert "<h2>console of javascript in all-of</h2>" in page
    assert "looked at &lt;i&gt;\nand on" in page


@settings(max_examples=60, deadline=None)
@given(cases=st.lists(case_results, max_size=4))
def test_the_page_holds_its_own_elements_alone_whatever_a_model_said(cases: list[CaseResult]) -> None:
    outline = Outline(rendered("html", run_of(cases), cases))
    assert outline.tags.count("script") == outline.tags.count("style") == 1
    assert outline.tags.count("details") == len(cases)
    assert not {"img", "iframe", "a", "link", "object"} & set(outline.tags)
    assert not [name for name in outline.attributes if name.startswith("on")]
    assert outline.open == []


def test_the_page_lets_nothing_run_but_its_own_script() -> None:
    page = rendered("html", SAMPLE_RUN, SAMPLE_CASES)
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', page)[1]
    script = re.search(r"<script>(.*?)</script>", page, re.DOTALL)[1]
    assert f"script-src '{html._digest(script)}'" in policy
    assert "default-src 'none'" in policy
    assert "http://" not in page.replace("http://127", "")
    assert "https://" not in page


def test_what_did_not_pass_comes_first() -> None:
    cases = [
        cell_result("good", "pass"),
        cell_result("bad", "fail", assertion("contains", "fail", "no", 0.0)),
    ]
    page = rendered("html", run_of(cases), cases)
    assert page.index("<b>bad</b>") < page.index("<b>good</b>")


def test_cases_are_bounded_and_the_rest_is_counted(monkeypatch) -> None:
    monkeypatch.setattr(html, "MAX_CASES", 2)
    cases = [cell_result(f"t{n}", "pass") for n in range(5)]
    page = rendered("html", run_of(cases), cases)
    assert page.count("<details") == 2
    assert "3 more cells are not on this page" in page


def test_characters_that_reorder_text_are_shown_as_escapes() -> None:
    page = rendered("html", run_of([]), [cell_result("t", "pass", output="a\u202eb\x1b[31m\ttab\nline")])
    assert "a\\u202eb\\x1b[31m\ttab\nline" in page
