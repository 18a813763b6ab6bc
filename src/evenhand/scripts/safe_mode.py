"""Safe mode: code that stands in the suite itself is not run; scripts in files are.

A guard against code that slips in with a suite, and no sandbox: files, programs and providers still run code, and so
do functions that a caller of the library hands over.
"""

from __future__ import annotations

from collections.abc import Mapping

from evenhand.io.given_functions import is_reference
from evenhand.model.outcome import Outcome, failed_both_ways
from evenhand.model.transform import Transform, TransformFailed
from evenhand.scripts.assertion import ScriptAssertion
from evenhand.scripts.transform import TransformScript

VARIABLES = ("EVENHAND_SAFE_MODE", "PROMPTFOO_SAFE_MODE")
"""Environment variables that switch it on."""

_OFF = frozenset({"", "0", "false", "no", "off"})

EXPLANATION = "inline code is not run in safe mode; move it into a `file://` script that somebody has read"


def is_asked_for(environ: Mapping[str, str]) -> bool:
    """Whether the environment switches safe mode on."""
    return any(environ.get(name, "").strip().lower() not in _OFF for name in VARIABLES)


def rejection(assertion: ScriptAssertion) -> Outcome | None:
    """The verdict on an assertion whose code may not run, which `negate` does not turn round; None where it may."""
    is_inline = assertion.reference is None and not is_reference(assertion.value)
    return failed_both_ways(EXPLANATION) if is_inline else None


def rejected_transform(transform: Transform) -> TransformFailed | None:
    """The error of a transform whose code may not run; None where it may."""
    is_inline = TransformScript(transform).reference is None and not is_reference(transform.value)
    return TransformFailed(EXPLANATION) if is_inline else None
