"""`evenhand run`."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import signal
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import (
    AT_LEAST_ONE,
    Function,
    against_option,
    allow_outside_option,
    cache_dir_option,
    concurrency_option,
    sandbox_options,
    suite_argument,
)
from evenhand.cli.outputs import Output, check_outputs, output_options, plan_outputs, write_outputs
from evenhand.cli.reserved import reserved_to_the_end
from evenhand.cli.terminal import Terminal, is_terminal, note
from evenhand.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from evenhand.api import RunOptions
    from evenhand.cli.progress import Progress
    from evenhand.model.result import Run
    from evenhand.model.suite import Suite
    from evenhand.store.store import RunStore

log = logging.getLogger("evenhand")


def _selection(function: Function) -> Function:
    """The options that say which cells to run."""
    for option in (
        click.option(
            "--failed", is_flag=True, help="Only cells that failed or errored in the suite's last run."
        ),
        click.option(
            "--prompt", "prompts", metavar="ID", multiple=True, help="Only this prompt. Repeatable."
        ),
        click.option(
            "--provider", "providers", metavar="ID", multiple=True, help="Only this provider. Repeatable."
        ),
        click.option(
            "--filter",
            "filters",
            metavar="GLOB",
            multiple=True,
            help="Only tests whose id matches, as in 'billing/*'. Repeatable.",
        ),
        click.option(
            "--tag", "tags", metavar="TAG", multiple=True, help="Only tests with this tag. Repeatable."
        ),
    ):
        function = option(function)
    return function


def _pace(function: Function) -> Function:
    """The options that say how cells are run."""
    for option in (
        click.option(
            "--timeout-ms",
            type=click.FloatRange(min=0, min_open=True),
            metavar="MS",
            help="Time for one call.",
        ),
        click.option(
            "--fallback-on-empty-reason",
            metavar="REASON",
            multiple=True,
            envvar="EVENHAND_FALLBACK_ON_EMPTY_REASON",
            show_envvar=True,
            help="Ask fallbacks for outputs that are empty for this reason, instead of the suite's. Repeatable.",
        ),
        click.option(
            "--no-fallback",
            is_flag=True,
            envvar="EVENHAND_NO_FALLBACK",
            show_envvar=True,
            help="Ask no fallback where a provider fails or refuses.",
        ),
        click.option("--no-retries", is_flag=True, help="Never repeat a failed call."),
        click.option(
            "--retries", type=click.IntRange(min=0), metavar="N", help="Repeat a failed call up to N times."
        ),
        click.option(
            "--repeat",
            type=AT_LEAST_ONE,
            metavar="N",
            help="Ask every question N times, whatever the suite says.",
        ),
        concurrency_option,
    ):
        function = option(function)
    return function


def _keeping(function: Function) -> Function:
    """The options that say which kept answers are used."""
    for option in (
        click.option(
            "--store-empty-outputs",
            type=click.Choice(["never", "reproducible", "always"]),
            envvar="EVENHAND_CACHE_STORE_EMPTY_OUTPUTS",
            show_envvar=True,
            help="Which empty answers are kept, instead of what the suite says.",
        ),
        cache_dir_option,
        click.option("--no-grader-cache", is_flag=True, help="Ask graders anew."),
        click.option(
            "--cache-only",
            is_flag=True,
            help="Use kept answers alone: nothing is called, a missing one errors.",
        ),
        click.option("--no-cache", is_flag=True, help="Put every question anew, and keep no answer."),
    ):
        function = option(function)
    return function


def _ending(function: Function) -> Function:
    """The options that say when a run ends and what counts as one."""
    for option in (
        against_option,
        click.option(
            "--safe-mode", is_flag=True, help="Reject inline JavaScript and Python; scripts in files run."
        ),
        click.option("--strict", is_flag=True, help="Treat warnings about the suite as errors."),
        click.option(
            "--resume-run", metavar="RUN", help="Finish this run: only its missing cells are asked."
        ),
        click.option("--resume", is_flag=True, help="Finish the suite's latest unfinished run."),
        click.option(
            "--allow-unchecked", is_flag=True, help="Accept a run in which no assertion was judged."
        ),
        click.option("--allow-empty", is_flag=True, help="Accept a run without any case."),
        click.option(
            "--max-cost",
            "max_cost_usd",
            type=click.FloatRange(min=0, min_open=True),
            metavar="USD",
            help="End the run before it costs more, graders included; it can be resumed.",
        ),
        click.option(
            "--max-failures", type=AT_LEAST_ONE, metavar="N", help="End the run at N failed or errored cells."
        ),
        click.option("--fail-fast", is_flag=True, help="End the run at the first failed or errored cell."),
    ):
        function = option(function)
    return function


@click.command("run", short_help="Run a suite and report what held and what did not.")
@suite_argument
@_selection
@_pace
@_keeping
@_ending
@output_options
@click.option(
    "--dry-run", is_flag=True, help="Ask nothing; say how many calls there would be and their cost."
)
@click.option("--no-progress", is_flag=True, help="Do not draw progress.")
@click.option(
    "--view",
    is_flag=True,
    help="Serve pages that follow the run, also after it, until Ctrl-C, and open them.",
)
@sandbox_options
@allow_outside_option
@click.pass_obj
def command(
    terminal: Terminal,
    /,
    path: Path,
    formats: tuple[str, ...],
    outs: tuple[str, ...],
    dry_run: bool,
    no_progress: bool,
    view: bool,
    allow_outside: tuple[Path, ...],
    sandbox: bool,
    allow_scripts: bool,
    allow_env: tuple[str, ...],
    allow_hosts: tuple[str, ...],
    strict: bool,
    **asked: Any,
) -> int:
    """Run a suite and report what held and what did not.

    Results go to the standard output or to files, everything else to the standard error. Every result is stored as
    it comes; `evenhand view` shows the run again.
    """
    from evenhand.api import open_store_of
    from evenhand.cli.suites import Limits, loaded

    outputs = plan_outputs(formats, outs)
    options = run_options(**asked)
    suite = loaded(
        path,
        strict=strict,
        allow_outside=allow_outside,
        limits=Limits(sandbox, allow_scripts, allow_env, allow_hosts),
    )
    if dry_run:
        from evenhand.cli.dry_run import show

        return show(suite, options, outputs)
    check_outputs(outputs, suite.path)
    # Code under test may still run, and print, when the reports are written.
    with (
        _viewer(path) if view else contextlib.nullcontext(),
        reserved_to_the_end(),
        contextlib.closing(open_store_of(suite)) as store,
    ):
        log.info("results go to %s", store.path)
        run = _executed(suite, options, store, None if no_progress else _progress(terminal))
        code = _reported(run, store, outputs, terminal, path)
    return max(code, run.exit_code or 0)


def _viewer(path: Path) -> contextlib.AbstractContextManager[None]:
    from evenhand.cli.viewer import following

    return following(path)


def run_options(
    *,
    fail_fast: bool = False,
    max_failures: int | None = None,
    retries: int | None = None,
    no_retries: bool = False,
    fallback_on_empty_reason: tuple[str, ...] = (),
    resume: bool = False,
    resume_run: str | None = None,
    **plain: Any,
) -> RunOptions:
    """The options of the library for those of the command line. Raises `UsageError` where two contradict."""
    from evenhand.api import RunOptions

    if fail_fast and max_failures not in (None, 1):
        raise UsageError("--fail-fast means --max-failures 1; give one of the two")
    if no_retries and retries:
        raise UsageError(f"--no-retries contradicts --retries {retries}; give one of the two")
    return RunOptions(
        max_failures=1 if fail_fast else max_failures,
        retries=0 if no_retries else retries,
        fallback_on_empty_reason=fallback_on_empty_reason or None,
        resume=resume or resume_run is not None,
        resume_run=resume_run,
        **plain,
    )


def _progress(terminal: Terminal) -> Progress | None:
    if not is_terminal(sys.stderr):
        return None
    from evenhand.cli.progress import Progress

    return Progress(sys.stderr, color=terminal.has_color(sys.stderr))


def _executed(suite: Suite, options: RunOptions, store: RunStore, progress: Progress | None) -> Run:
    from evenhand.api import execute_run
    from evenhand.io.event_loop import run_on_loop
    from evenhand.run.collection import collection_of_new

    async def run() -> Run:
        _end_cleanly_on_terminate()
        return await execute_run(suite, options, store=store, observer=progress)

    at_first = signal.getsignal(signal.SIGTERM)
    try:
        with progress or contextlib.nullcontext(), collection_of_new():
            return run_on_loop(run())
    except asyncio.CancelledError:
        raise KeyboardInterrupt from None  # ended before there was a run to keep
    finally:
        signal.signal(signal.SIGTERM, at_first)


def _end_cleanly_on_terminate() -> None:
    """Let SIGTERM, by which CI systems end a job, do what Ctrl-C does: keep what finished and say so."""
    task = asyncio.current_task()
    if task is not None and sys.platform != "win32":
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


def _reported(
    run: Run, store: RunStore, outputs: Sequence[Output], terminal: Terminal, path: Path
) -> ExitCode:
    from evenhand.cli import stored
    from evenhand.cli.progress import end_line

    page = stored.page_of(run, store, path)
    code = write_outputs(outputs, run, stored.cases_of(run, store), terminal, page)
    if not any(output.path is None and output.report.follows_terminal for output in outputs):
        note(end_line(run))
    return code
