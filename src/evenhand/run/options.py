"""What a caller may ask of a run, held to its types, and a suite with it over its own settings."""

from __future__ import annotations

import os
from typing import Annotated, Any

import msgspec

from evenhand.errors import UsageError
from evenhand.model.caching import StoreEmptyOutputs
from evenhand.model.result import Run, Terms
from evenhand.model.suite import MAX_CONCURRENCY, MAX_REPEAT, Suite
from evenhand.scripts.safe_mode import is_asked_for as safe_mode_asked_for

Meta = msgspec.Meta


class RunOptions(msgspec.Struct, frozen=True, kw_only=True):
    """What a caller may ask of a run beside what the suite says; each is an option of `evenhand run` too.

    `tags`, `filters` (globs over ids), `providers`, `prompts` and `failed` select; `repeat`, `concurrency`, `retries`
    and `timeout_ms` take the place of the suite's; `max_failures` and `max_cost_usd` end a run early, and `resume`
    goes on with it; `no_cache` and `cache_only` say which kept answers are used; `against` compares.
    """

    tags: tuple[str, ...] = ()
    filters: tuple[str, ...] = ()
    providers: tuple[str, ...] = ()
    prompts: tuple[str, ...] = ()
    failed: bool = False
    """Only the failed and errored cells of the suite's last run."""
    max_failures: Annotated[int, Meta(ge=1)] | None = None
    """End the run after so many failed or errored cells."""
    max_cost_usd: Annotated[float, Meta(gt=0)] | None = None
    """End the run before it costs more, graders included."""
    safe_mode: bool = False
    """Reject inline code, as the suite's `runner.safe_mode` and the environment may do too."""
    allow_empty: bool = False
    allow_unchecked: bool = False
    repeat: Annotated[int, Meta(ge=1, le=MAX_REPEAT)] | None = None
    """How often every question is asked, whatever the suite says."""
    concurrency: Annotated[int, Meta(ge=1, le=MAX_CONCURRENCY)] | None = None
    retries: Annotated[int, Meta(ge=0)] | None = None
    timeout_ms: Annotated[float, Meta(gt=0)] | None = None
    no_fallback: bool = False
    """Ask nobody else where a provider fails or refuses."""
    fallback_on_empty_reason: tuple[str, ...] | None = None
    """Reasons for an empty output for which fallbacks are asked, instead of the suite's."""
    no_cache: bool = False
    """Put every question anew, and keep no answer."""
    cache_only: bool = False
    """Use kept answers alone: nothing is called, and an answer that is not kept is a `cache_miss`."""
    no_grader_cache: bool = False
    """Ask graders anew, whatever the suite says."""
    cache_dir: str | None = None
    """Folder of the kept answers, instead of `EVENHAND_CACHE_DIR` or the one in the state folder."""
    store_empty_outputs: StoreEmptyOutputs | None = None
    """Which empty answers are kept, instead of what the suite says."""
    resume: bool = False
    """Finish the suite's latest unfinished run."""
    resume_run: str | None = None
    """Finish this run."""
    rescore: str | None = None
    """Judge the stored answers of this run again, by the suite as it is now, instead of asking for new ones."""
    against: str | None = None
    """What to compare with: a run's id, `latest`, `baseline`, `branch:NAME`, a run file, or `none`."""


_TYPES = {
    "array": "a tuple",
    "bool": "true or false",
    "float": "a number",
    "int": "a whole number",
    "str": "text",
}
"""Types in plain words."""


def check_options(options: RunOptions) -> None:
    """Hold the options to their types and bounds, which a constructor does not. Raises `UsageError`."""
    if options.cache_only and (options.no_cache or options.no_grader_cache):
        other = "no cache" if options.no_cache else "no grader cache"
        raise UsageError(f"cache only: contradicts `{other}`; give one of the two")
    for field in msgspec.structs.fields(RunOptions):
        value = getattr(options, field.name)
        try:
            msgspec.convert(value, field.type)
        except msgspec.ValidationError as error:
            expected = (
                str(error)
                .split(" - at ")[0]
                .split(", got ")[0]
                .replace("Expected", "expected")
                .replace(" | null", "")
            )
            for name, words in _TYPES.items():
                expected = expected.replace(f"`{name}`", words)
            raise UsageError(f"{field.name.replace('_', ' ')}: {expected}, found {value!r}") from None


def terms_of(options: RunOptions, suite: Suite) -> Terms:
    """What a run with these options, of a suite with them over its own, keeps to when it is resumed."""
    terms = {name: getattr(options, name) for name in Terms.__struct_fields__}
    return Terms(**{**terms, "safe_mode": suite.runner.safe_mode})


def resumed_options(options: RunOptions, run: Run) -> RunOptions:
    """The options with those that the run was begun with.

    Raises `UsageError` for a selection of other cells, or other ways to use kept answers, than the run was begun with.
    """
    other = [
        name
        for name in ("tags", "filters", "providers", "prompts", "repeat")
        if getattr(options, name) and getattr(options, name) != getattr(run.filters, name)
    ]
    if other:
        raise UsageError(
            f"run {run.run_id} was begun with other {' and '.join(other)}, and one run has one selection; "
            "leave them out to resume it, or start a new run"
        )
    kept = {name: getattr(run.terms, name) for name in Terms.__struct_fields__}
    options = msgspec.structs.replace(options, **{name: value for name, value in kept.items() if value})
    check_options(options)
    return options


def with_overrides(suite: Suite, options: RunOptions) -> Suite:
    """The suite with the options that a caller set over the suite's own."""
    changed: dict[str, Any] = {
        name: value
        for name, value in (
            ("concurrency", options.concurrency),
            ("timeout_ms", options.timeout_ms),
            ("max_cost_usd", options.max_cost_usd),
            ("fallback_on_empty_reason", options.fallback_on_empty_reason),
        )
        if value is not None
    }
    if options.no_fallback or options.cache_only:
        changed["fallback"] = False
    runner = msgspec.structs.replace(suite.runner, **changed)
    if options.safe_mode or safe_mode_asked_for(os.environ):
        runner = msgspec.structs.replace(runner, safe_mode=True)
    if options.retries is not None:
        runner = msgspec.structs.replace(
            runner, retries=msgspec.structs.replace(runner.retries, max=options.retries)
        )
    cache = suite.cache
    if options.no_grader_cache:
        cache = msgspec.structs.replace(cache, grader=False)
    if options.store_empty_outputs is not None:
        cache = msgspec.structs.replace(cache, store_empty_outputs=options.store_empty_outputs)
    return msgspec.structs.replace(suite, runner=runner, cache=cache)
