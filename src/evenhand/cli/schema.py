"""`evenhand schema`."""

from __future__ import annotations

from typing import Any

import click


@click.command("schema", short_help="Print the JSON Schema of a suite or of a run document.")
@click.argument("what", type=click.Choice(["suite", "run"]))
def command(what: str) -> None:
    """Print a JSON Schema, generated from the declarations in the code.

    `suite` describes the suite file, for editors to complete and check; `run` the document of `--format json`.
    """
    import msgspec

    schema = _suite() if what == "suite" else _run()
    print(msgspec.json.format(msgspec.json.encode(schema), indent=2).decode())


def _suite() -> dict[str, Any]:
    from evenhand.config.schema import suite_schema

    return suite_schema()


def _run() -> dict[str, Any]:
    import msgspec

    from evenhand.config.schema import DIALECT
    from evenhand.model.result import RunDocument

    return {"$schema": DIALECT, "title": "A run of evenhand", **msgspec.json.schema(RunDocument)}
