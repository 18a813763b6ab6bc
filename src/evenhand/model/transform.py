"""A change of an answer's output before it is judged, as a suite declares it."""

from __future__ import annotations

from functools import lru_cache
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from evenhand.errors import ClassifiedError, ErrorClass

FILE_PREFIX = "file://"

DEFAULT_TIMEOUT_MS = 5_000.0
MAX_TIMEOUT_MS = 3_600_000.0


class Transform(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Makes the output that is judged out of the one that came: code of the suite, or an expression."""

    type: Annotated[
        Literal["javascript", "jinja", "python"],
        Meta(
            description="Language of `value`: JavaScript, an expression over `output`, `output_json` and the vars, "
            "or Python."
        ),
    ] = "javascript"
    value: Annotated[
        str,
        Meta(
            description="The code, or `file://path:function`, called with `(output, context)`. It gives the new "
            "output. Not a template."
        ),
    ]
    engine: Annotated[
        Literal["quickjs", "node"],
        Meta(
            description="What runs inline JavaScript: the embedded engine, or Node.js. Files always run in Node.js."
        ),
    ] = "quickjs"
    timeout_ms: Annotated[
        float,
        Meta(gt=0, le=MAX_TIMEOUT_MS, description="Time for one evaluation, after which it is stopped."),
    ] = DEFAULT_TIMEOUT_MS
    isolate: Annotated[
        bool,
        Meta(description="False runs Python in the process of the run, where nothing can stop it."),
    ] = True


WrittenTransform = str | Transform | None
"""A transform as suites write it: text is inline JavaScript or a file with a script."""


class TransformFailed(ClassifiedError):
    """A transform that broke or gave no value: an error of the case, which no `negate` can turn into a pass."""

    def __init__(self, message: str, details: object = None) -> None:
        super().__init__(message, ErrorClass.TRANSFORM_FAILED, details)


@lru_cache(1_024)
def transform_of(written: str | Transform) -> Transform:
    """The transform that a written one stands for."""
    if isinstance(written, Transform):
        return written
    is_python = written.startswith(FILE_PREFIX) and ".py" in _last_part(written).partition(":")[0]
    return Transform(type="python" if is_python else "javascript", value=written)


def _last_part(reference: str) -> str:
    return reference.replace("\\", "/").rpartition("/")[2]
