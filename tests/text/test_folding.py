import sys

from hypothesis import given
from hypothesis import strategies as st

from evenhand.text.folding import original_span

TEXTS = st.text(st.sampled_from("abßİﬃŉΐ😀\u1f80é"), min_size=1, max_size=12)


@given(TEXTS, st.data())
def test_a_folded_slice_leads_back_to_the_characters_it_came_from(text: str, data: st.DataObject) -> None:
    origins = [index for index, character in enumerate(text) for _ in character.casefold()]
    start = data.draw(st.integers(0, len(origins) - 1))
    end = data.draw(st.integers(start + 1, len(origins)))
    assert original_span(text, start, end) == (origins[start], origins[end - 1] + 1)


def test_every_character_that_folding_lengthens_is_known() -> None:
    for code in range(sys.maxunicode + 1):
        folded = chr(code).casefold()
        assert folded
        if len(folded) > 1:
            text = chr(code) + "x"
            assert original_span(text, len(folded), len(folded) + 1) == (1, 2)
