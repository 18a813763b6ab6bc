"""`evenhand init`."""

from __future__ import annotations

import importlib.resources
import shlex
from pathlib import Path
from typing import NamedTuple

import click


class Kind(NamedTuple):
    """One shape of a first suite. Its files stand in `templates`, under its name."""

    files: tuple[str, ...]
    next_step: str


KINDS: dict[str, Kind] = {
    "python": Kind(
        ("evenhand.yaml", "app.py"),
        "put a call of your own application into `answer` in {app}, then run again",
    ),
    "program": Kind(
        ("evenhand.yaml", "app.py"),
        "put your own program into {app}, or its name into `command` in {suite}, then run again",
    ),
    "http": Kind(
        ("evenhand.yaml", "app.py"),
        "put the address and the shape of your own endpoint into `providers` of {suite}, then run again",
    ),
    "model": Kind(
        ("evenhand.yaml", "stand_in.py"),
        "name your own model in `providers` of {suite}, take `servers` out, then run again",
    ),
    "echo": Kind(
        ("evenhand.yaml",), "change a case in {suite}, run again, then name a system of yours in `providers`"
    ),
}


@click.command("init", short_help="Write a small suite that runs at once, to start from.")
@click.argument("folder", default=".", type=click.Path(path_type=Path))
@click.option(
    "--kind",
    type=click.Choice(list(KINDS)),
    default="python",
    show_default=True,
    help="What is to be tested: a Python function, a program in any language, an HTTP endpoint, a model behind the "
    "chat API of OpenAI, or nothing yet (the question comes back as the answer).",
)
def command(folder: Path, kind: str) -> None:
    """Write a small commented suite that runs green at once, and say what to do next.

    FOLDER is made if it is missing. No file is ever overwritten.
    """
    written = write_suite(folder, kind)
    for path in written:
        print(f"wrote {path}")
    suite, app = written[0], written[-1]
    place = "" if folder == Path() else f" {shlex.quote(str(folder))}"
    print(f"next: `evenhand run{place}`")
    print(f"then: {KINDS[kind].next_step.format(suite=suite, app=app)}")


def write_suite(folder: Path, kind: str) -> list[Path]:
    """Write the files of a kind into a folder, none where one is in the way. Raises `UsageError`."""
    from evenhand.errors import UsageError

    paths = [folder / name for name in KINDS[kind].files]
    _refuse_what_is_there(folder, paths)
    templates = importlib.resources.files("evenhand.cli").joinpath("templates", kind)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for path in paths:
            content = templates.joinpath(path.name).read_bytes()
            with path.open("xb") as file:
                file.write(content)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise UsageError(f"{folder}: the suite cannot be written: {reason.lower()}") from None
    return paths


def _refuse_what_is_there(folder: Path, paths: list[Path]) -> None:
    import os

    from evenhand.config.locate_suite import SUITE_NAMES
    from evenhand.errors import UsageError

    candidates = [*paths, *(folder / name for name in SUITE_NAMES)]
    there = [str(path) for path in dict.fromkeys(candidates) if os.path.lexists(path)]
    if there:
        raise UsageError(
            f"{folder}: nothing is overwritten, and there {'is' if len(there) == 1 else 'are'} already "
            f"{', '.join(there)}; name another folder: `evenhand init FOLDER`"
        )
