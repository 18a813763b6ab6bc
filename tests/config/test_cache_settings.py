"""The `cache` block of a suite."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenhand.config.load import load_suite
from evenhand.errors import SuiteError
from evenhand.model.caching import CacheSettings, HttpSettings, S3Settings
from evenhand.model.suite import Suite

SUITE = """\
version: 1
providers: [{id: app, type: http, url: "http://127.0.0.1:1", cache_salt: "$digest: facts.txt"}]
tests: [{id: t, assert: [{type: contains, value: x}]}]
"""


def load(folder: Path, cache: str, **options: object) -> Suite:
    (folder / "facts.txt").write_text("facts", encoding="utf-8")
    (folder / "evenhand.yaml").write_text(f"{SUITE}{cache}\n", encoding="utf-8")
    return load_suite(folder, environ={"BUCKET": "b-1"}, **options)  # type: ignore[arg-type]


def test_block_is_read_with_the_environment_filled_in(tmp_path: Path) -> None:
    assert load(tmp_path, "").cache == CacheSettings()
    written = (
        "cache: {grader: false, store_empty_outputs: never, backend: layered, s3: {bucket: '${env:BUCKET}'}}"
    )
    assert load(tmp_path, written).cache == CacheSettings(
        grader=False, store_empty_outputs="never", backend="layered", s3=S3Settings(bucket="b-1")
    )
    shared = "cache: {backend: layered, http: {url: 'https://${env:BUCKET}.test/x'}}"
    assert load(tmp_path, shared).cache.http == HttpSettings(url="https://b-1.test/x")


@pytest.mark.parametrize(
    ("cache", "said"),
    [
        ("cache: {backend: layered}", "found neither of `s3` and `http`"),
        ("cache: {backend: layered, s3: {bucket: b}, http: {url: 'http://x'}}", "found both"),
        ("cache: {s3: {bucket: b}}", "`s3` is not used with `backend: disk`"),
        ("cache: {backend: redis}", "backend"),
        ("cache: {store_empty_outputs: sometimes}", "store_empty_outputs"),
        ("cache: {graders: false}", "did you mean 'grader'?"),
        ("cache: {backend: layered, http: {url: 'ftp://x'}}", "url"),
        ("cache: {backend: layered, s3: {bucket: '${env:NOPE}'}}", "'NOPE' is not set"),
    ],
)
def test_wrong_blocks_are_refused(cache: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as refused:
        load(tmp_path, cache)
    assert said in str(refused.value)


def test_suite_in_a_sandbox_shares_no_answers(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="may not share answers"):
        load(tmp_path, "cache: {backend: layered, s3: {bucket: b}}", confined=True)


def test_salt_of_a_provider_follows_files(tmp_path: Path) -> None:
    before = load(tmp_path, "").providers[0].cache_salt
    assert before is not None
    assert before.startswith("blake3:")
    suite = SUITE.replace("facts.txt", "none.txt")
    (tmp_path / "evenhand.yaml").write_text(suite, encoding="utf-8")
    with pytest.raises(SuiteError, match=r"providers\[0\]\.cache_salt"):
        load_suite(tmp_path)
