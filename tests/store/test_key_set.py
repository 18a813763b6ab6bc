"""The keys of a million finished cells in eight megabytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from evenhand.store.key_set import KeySet

keys = st.binary(min_size=8, max_size=8)


@given(st.sets(keys, max_size=30), st.sets(keys, max_size=30))
def test_behaves_like_a_set_of_text(inside: set[bytes], others: set[bytes]) -> None:
    found = KeySet(sorted(inside))
    wanted = {key.hex() for key in inside}
    assert set(found) == wanted
    assert found == wanted
    assert len(found) == len(wanted)
    assert all((key.hex() in found) == (key in inside) for key in others)
    assert (found & {key.hex() for key in others}) == {key.hex() for key in inside & others}


def test_anything_but_a_key_is_not_in_it() -> None:
    found = KeySet([bytes(8)])
    for other in (None, 0, "", "0", "0" * 15, "0" * 17, "g" * 16, "000000000000000x", bytes(8)):
        assert other not in found
    assert "0" * 16 in found


def test_a_hundred_thousand_keys_take_eight_bytes_each() -> None:
    found = KeySet(number.to_bytes(8, "big") for number in range(100_000))
    assert found._keys.itemsize * len(found._keys) == 800_000
    assert repr(found) == "<100000 case keys>"
