"""What a suite from a stranger may not use: found at load, each with what would allow it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.config.findings import Place
from evenhand.errors import Problem, SuiteError
from evenhand.io.hosts import allowed_host, guard_of
from evenhand.model.assertion import Assertion
from evenhand.model.confinement import Confinement
from evenhand.model.provider import Provider

if TYPE_CHECKING:
    from evenhand.scripts.judge import Code

MAX_ENTRIES = 100_000
"""Files and folders of a suite that are looked through for links."""


def provider_refusals(provider: Provider, confinement: Confinement) -> Iterator[Problem]:
    """Why a provider may not be used in a sandbox."""
    if not confinement.is_sandbox:
        return
    if provider.reach == "anything":
        kind = str(type(provider).__struct_config__.tag)
        message = f"a suite in a sandbox may not use {kind!r}, whose calls nothing limits"
        yield Problem(message, hint="replace it, or run the suite without `--sandbox` once you trust it")
        return
    guard = guard_of(confinement, provider.own_addresses)
    for option, address in provider.addresses():
        refusal = None if guard is None else guard.refusal(address)
        if refusal is not None:
            yield Problem(refusal, (option,))
    for name in provider.credentials:
        if name not in provider.own_credentials and name not in confinement.variables:
            message = f"a sandbox does not send the environment variable {name!r}"
            yield Problem(message, ("api_key_env",), f"allow it with `--allow-env {name}`")


def assertion_refusal(assertion: Assertion, confinement: Confinement) -> Problem | None:
    """Why an assertion may not be used in a sandbox."""
    if not (confinement.is_sandbox and assertion.runs_programs):
        return None
    return Problem(f"{assertion.kind!r} runs a program, which a suite in a sandbox may not", hint="remove it")


def code_refusal(code: Code, confinement: Confinement) -> Problem | None:
    """Why code may not be run in a sandbox."""
    if not confinement.is_sandbox or code.engine_name == "quickjs":
        return None
    if not code.engine_name.startswith("node"):
        return Problem(
            "Python runs without limits, so a suite in a sandbox may not use it", hint="use JavaScript"
        )
    if confinement.scripts:
        return None
    return Problem("a suite in a sandbox may not run code in Node.js", hint="allow it with `--allow-scripts`")


def report_folder(confinement: Confinement, place: Place) -> None:
    """Report what in the suite's folder would lead scripts out of it, in spite of the permissions of Node.js.

    Node.js takes a `*` in the path of a folder for any text, and follows symbolic links. One that leads through `/`
    may lead elsewhere in another process, through `/proc/self` for example, so where it leads now says nothing.
    """
    root = confinement.directory.resolve()
    if "*" in str(root):
        place.report(
            f"scripts cannot be kept to a folder with `*` in its path, found {str(root)!r}", "rename it"
        )
        return
    try:
        for link in _links(root):
            if _leads_out(link, root):
                name = str(link.relative_to(root))
                place.report(f"the symbolic link {name!r} leads out of the suite's folder", "remove it")
    except OSError as error:
        place.report(
            f"the suite's folder cannot be looked through for links: {error.strerror}: {error.filename!r}"
        )


def _leads_out(link: Path, root: Path) -> bool:
    target = link.readlink()
    if target.is_absolute():
        return True
    written = Path(os.path.normpath(link.parent / target))
    if not written.is_relative_to(root):
        return True
    try:
        return not link.resolve().is_relative_to(root)
    except RuntimeError:
        return False  # a circle, which leads nowhere


def report_hosts(confinement: Confinement, place: Place) -> None:
    """Report what was allowed as a host and is none."""
    for text in confinement.hosts:
        if allowed_host(text) is None:
            place.report(f"`--allow-host` takes `name` or `name:port`, found {text!r}")


def _too_many() -> SuiteError:
    message = f"the suite's folder has more than {MAX_ENTRIES:,} files, too many to look through for links"
    return SuiteError([Problem(message, hint="move the suite into a folder of its own")])


def _links(root: Path) -> Iterator[Path]:
    waiting, count = [root], 0
    while waiting:
        for entry in sorted(waiting.pop().iterdir()):
            count += 1
            if count > MAX_ENTRIES:
                raise _too_many()
            if entry.is_symlink():
                yield entry
            elif entry.is_dir():
                waiting.append(entry)
