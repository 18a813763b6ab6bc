"""What a run asks: the cells that options choose, those that a broken-off run left, or stored answers again."""

from __future__ import annotations

import msgspec

from evenhand.errors import SuiteError, UsageError
from evenhand.model.result import CaseResult, Filters, Run, RunStatus
from evenhand.model.suite import Suite
from evenhand.run.options import RunOptions, check_options, resumed_options, with_overrides
from evenhand.run.plan import NOTHING_KNOWN, Known, Plan, known_of
from evenhand.run.preflight import missing_graders
from evenhand.run.rescore import RescorePlan
from evenhand.run.selection import selecting
from evenhand.store.encoding import result_of
from evenhand.store.store import RunStore


def plan_run(suite: Suite, options: RunOptions, *, store: RunStore) -> Plan:
    """The cells that a run with these options would ask, without asking any.

    Raises `SuiteError` where a selected case lacks a grader, `UsageError` for options that cannot be met.
    """
    check_options(options)
    resumed = run_to_resume(suite, options, store)
    options = options if resumed is None else resumed_options(options, resumed)
    suite = with_overrides(suite, options)
    plan = plan_of(suite, options, store, resumed)
    missing = missing_graders(plan)
    if missing:
        raise SuiteError(missing)
    return plan


def run_to_resume(suite: Suite, options: RunOptions, store: RunStore) -> Run | None:
    """The unfinished run that the options name, or None where a new one is asked for.

    Raises `UsageError` where there is none, or where the suite changed so that one run would mix two questions.
    """
    if not options.resume and options.resume_run is None:
        return None
    if options.failed:
        raise UsageError("`--failed` starts a new run; it cannot be combined with resuming one")
    if options.resume_run is not None:
        run = store.find(options.resume_run)
    else:
        found = store.unfinished(suite.path.resolve())
        if found is None:
            raise UsageError(f"no unfinished run of {suite.path}; start one with `evenhand run`")
        run = found
    if run.status is RunStatus.FINISHED:
        raise UsageError(f"run {run.run_id} is finished; nothing is left to resume")
    changed = sorted(
        name for name in {*run.digests, *suite.digests} if run.digests.get(name) != suite.digests.get(name)
    )
    if changed:
        raise UsageError(
            f"run {run.run_id} cannot be resumed: the suite's {' and '.join(changed)} changed since, and its "
            "results would answer two questions; start a new run, or restore the suite"
        )
    return run


def plan_of(suite: Suite, options: RunOptions, store: RunStore, resumed: Run | None) -> Plan:
    """The cells that the options ask for, or those that are left of a resumed run. Raises `UsageError`."""
    if resumed is not None:
        return _rest_of(resumed, suite, store)
    if options.rescore is not None:
        return _rescored(suite, store.find(options.rescore), store)
    filters = Filters(
        tags=options.tags,
        filters=options.filters,
        providers=options.providers,
        prompts=options.prompts,
        repeat=options.repeat,
    )
    if not options.failed:
        return selecting(Plan(suite, filters, repeat=options.repeat), allow_empty=options.allow_empty)
    last = store.find("latest", suite_path=suite.path.resolve())
    keys = store.failed_keys(last.run_id)
    if not keys:
        what = "nothing failed" if last.summary.total else "nothing was run"
        raise UsageError(f"{what} in the last run, {last.run_id}")
    repeat = options.repeat or last.filters.repeat
    filters = msgspec.structs.replace(filters, failed_of=last.run_id, repeat=repeat)
    return Plan(suite, filters, repeat=repeat, only_keys=keys)


def _rest_of(resumed: Run, suite: Suite, store: RunStore) -> Plan:
    """What a run that was not finished has left to ask."""
    failed_of = resumed.filters.failed_of
    only = store.failed_keys(failed_of) if failed_of else None
    results = store.results(resumed.run_id) if suite.has_repeats else ()
    known = known_of(store.finished_keys(resumed.run_id), results)
    if resumed.origin is not None:
        return _rescored(suite, store.find(resumed.origin), store, known)
    return Plan(suite, resumed.filters, repeat=resumed.filters.repeat, only_keys=only, known=known)


def _rescored(suite: Suite, origin: Run, store: RunStore, known: Known = NOTHING_KNOWN) -> Plan:
    """The cells of a run with its stored answers. Raises `UsageError` for a run that did not come to its end."""
    if origin.status is RunStatus.RUNNING:
        raise UsageError(
            f"run {origin.run_id} is not over; finish it with `evenhand run --resume-run {origin.run_id}`"
        )
    documents = store.documents([origin.run_id])

    def results(case_keys: list[str]) -> dict[str, CaseResult]:
        found = documents.of([bytes.fromhex(key) for key in case_keys])
        return {key.hex(): result_of(document) for key, document in found.items()}

    changed = origin.digests.get("tools") != suite.digests.get("tools")
    only = store.finished_keys(origin.run_id) if origin.filters.failed_of else None
    return RescorePlan(
        suite,
        origin,
        results,
        only_keys=only,
        known=known,
        stale="the tools of the suite changed since" if changed else None,
    )
