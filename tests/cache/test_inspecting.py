"""Kept answers can be counted, found and thrown away."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from evenhand.cache.database import CacheError, cache_file
from evenhand.cache.differences import leaves, nearest
from evenhand.cache.inspecting import DAY_S, KeptAnswers, clear
from evenhand.cache.question import question_of
from evenhand.errors import UsageError
from evenhand.model.exchange import Response
from support.cached import opened

NOW = 2e9


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Five answers, each a day older than the one before it."""

    async def work() -> None:
        for age in range(5):
            cache = opened(tmp_path, now=lambda age=age: NOW - age * DAY_S)
            question = question_of({"prompt": f"number {age}", "n": age}, provider="p", test="t")
            cache.keep(question, Response(output="x" * 1_000))
            await cache.close()

    asyncio.run(work())
    return tmp_path


def test_answers_are_counted_and_listed(folder: Path) -> None:
    with KeptAnswers(folder) as kept:
        stats = kept.stats()
        assert (stats.answers, stats.newest, stats.oldest) == (5, NOW, NOW - 4 * DAY_S)
        assert stats.by_provider == {"p": 5}
        assert len(list(kept.newest())) == len(list(kept.newest(provider="p", test="t"))) == 5
        assert list(kept.newest(provider="q")) == []
        assert len(list(kept.newest(limit=2))) == 2


def test_answer_is_found_by_the_beginning_of_its_key(folder: Path) -> None:
    with KeptAnswers(folder) as kept:
        key = next(kept.newest()).key
        assert kept.find(key).response.output == "x" * 1_000
        assert kept.find(key[:20]).head.key == key
        for wrong in ("", "xyz", "sha256:", "0" * 65):
            with pytest.raises(UsageError, match="hex digits"):
                kept.find(wrong)
        missing = "0" if not key.removeprefix("sha256:").startswith("0") else "1"
        with pytest.raises(UsageError, match="no kept answer"):
            kept.find(missing * 64)


@pytest.mark.parametrize(
    ("options", "left"),
    [
        ({"unused_days": 2.5}, 3),
        ({"unused_days": 0}, 1),
        ({"unused_days": 100}, 5),
        ({"max_bytes": 1 << 20}, 5),
        ({"max_bytes": 2_500}, 2),
        ({"max_bytes": 1_500}, 1),
        ({"max_bytes": 0}, 0),
        ({"unused_days": 3.5, "max_bytes": 100}, 0),
    ],
)
def test_old_and_superfluous_answers_are_collected(
    options: dict[str, float], left: int, folder: Path
) -> None:
    with KeptAnswers(folder, writes=True) as kept:
        count, size = kept.collect(now=NOW, **options)
        assert count == 5 - left
        assert (size > 0) is (count > 0)
        assert kept.stats().answers == left
        if left == 1:
            assert next(kept.newest()).used == NOW


def test_everything_is_cleared_and_a_damaged_file_removed(folder: Path) -> None:
    assert clear(folder) == 5
    assert clear(folder) == 0
    assert clear(folder / "elsewhere") == 0
    cache_file(folder).write_bytes(b"damaged")
    with pytest.raises(CacheError, match="damaged"):
        KeptAnswers(folder)
    assert clear(folder) is None
    assert not cache_file(folder).exists()


def test_nearest_question_is_the_one_with_the_fewest_differences(folder: Path) -> None:
    asked = question_of({"prompt": "number 3", "n": 4}, provider="p", test="t", case_salt="s")
    with KeptAnswers(folder) as kept:
        found = nearest(asked.document, kept.candidates(asked))
    assert found is not None
    assert found.total == 2
    assert [(d.path, d.asked, d.kept) for d in found.differences] in (
        [("case_salt", '"s"', None), ("request.n", "4", "3")],
        [("case_salt", '"s"', None), ("request.prompt", '"number 3"', '"number 4"')],
    )


def test_leaves_name_every_place() -> None:
    document = b'{"a":[1,{"b":null}],"c":{},"d":[]}'
    assert dict(leaves(document)) == {"a[0]": "1", "a[1].b": "null", "c": "{}", "d": "[]"}
    assert list(leaves(b"{broken")) == []
