"""`${env:NAME}` in settings: the environment's values, looked up while loading.

`${env:NAME}` is the variable's value, `${env:NAME:-default}` that or the default where it is not set, `$$` a `$`.
Everything else that begins with `$` stays as it is, and what was put in is not looked at again.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from evenhand.config.findings import Place

_TOKEN = re.compile(r"\$\$|\$\{env:(?P<inner>[^}]*)(?P<end>\}?)")
_DEFAULT = ":-"


def interpolate(value: Any, environ: Mapping[str, str], place: Place) -> Any:
    """The value with every `${env:…}` in its texts replaced; what cannot be replaced is reported and kept."""
    if isinstance(value, str):
        return _text(value, environ, place) if "$" in value else value
    if isinstance(value, dict):
        return {key: interpolate(item, environ, place.inside(key)) for key, item in value.items()}
    if isinstance(value, list):
        return [interpolate(item, environ, place.inside(index)) for index, item in enumerate(value)]
    return value


def _text(text: str, environ: Mapping[str, str], place: Place) -> str:
    def replacement(match: re.Match[str]) -> str:
        if match[0] == "$$":
            return "$"
        name, has_default, default = match["inner"].partition(_DEFAULT)
        if not match["end"]:
            place.report(
                "`${env:` has no closing `}`", "write `${env:NAME}`, or `$${env:` for the text itself"
            )
        elif not name:
            place.report("`${env:}` names no variable", "write `${env:NAME}`")
        elif name in environ:
            return environ[name]
        elif has_default:
            return default
        else:
            place.report(
                f"the environment variable {name!r} is not set",
                f"set it, or give a default: `${{env:{name}:-…}}`",
            )
        return match[0]

    return _TOKEN.sub(replacement, text)
