"""The base class of assertion kinds whose verdict is that of a script, and references to files with scripts."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from typing import Annotated, Any, ClassVar, NamedTuple

from msgspec import Meta

from evenhand.errors import Problem
from evenhand.model.assertion import Assertion
from evenhand.model.evidence import Evidence
from evenhand.model.outcome import Outcome
from evenhand.model.transform import DEFAULT_TIMEOUT_MS, FILE_PREFIX, MAX_TIMEOUT_MS
from evenhand.scripts.batch import Answer
from evenhand.scripts.verdicts import JAVASCRIPT, Terms, Words, verdict
from evenhand.template import Engine

_REFERENCE = re.compile(r"(.*?(\.[A-Za-z]+))(?::(.*))?", re.DOTALL)

NODE_REMEDY = "set `engine: node` on it, or move the code into a `file://` script"
"""What to do about a feature that the embedded engine lacks."""


class ScriptFile(NamedTuple):
    """A reference to a function in a file: `file://path.js:name`."""

    path: str
    extension: str
    name: str


def parse_reference(value: str) -> ScriptFile | None:
    """The file and the function that a value refers to; None for inline code.

    The name follows the first colon after an extension, so that drive letters belong to the path.
    """
    if not value.startswith(FILE_PREFIX):
        return None
    reference = value.removeprefix(FILE_PREFIX)
    match = _REFERENCE.fullmatch(reference)
    if match is None:
        return ScriptFile(reference, "", "")
    return ScriptFile(match[1], match[2].lower(), match[3] or "")


class ScriptAssertion(Assertion, frozen=True, kw_only=True):
    """An assertion that code of the suite decides."""

    value: Annotated[str, Meta(description="The code, or `file://path:function`. Not a template.")]
    threshold: Annotated[
        float | None, Meta(description="Score that must be reached; any finite number, 0 included.")
    ] = None
    config: Annotated[
        dict[str, Any] | None, Meta(description="Values for the script, as `context.config`. Not templates.")
    ] = None
    timeout_ms: Annotated[
        float,
        Meta(gt=0, le=MAX_TIMEOUT_MS, description="Time for one evaluation, after which it is stopped."),
    ] = DEFAULT_TIMEOUT_MS

    is_script = True
    scores_freely = True
    reads_vars = True

    extensions: ClassVar[tuple[str, ...]] = ()
    """Extensions of files that hold scripts of this kind."""
    words: ClassVar[Words] = JAVASCRIPT

    @property
    def engine_name(self) -> str:
        """The engine that runs the script: `quickjs`, `node`, `node-typescript`, `python` or `in-process`."""
        raise NotImplementedError

    @property
    def reference(self) -> ScriptFile | None:
        """The file that the script is in; None for inline code."""
        return parse_reference(self.value)

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not self.value.strip():
            yield Problem("empty code decides nothing", ("value",), "write an expression over `output`")
        if self.threshold is not None and not math.isfinite(self.threshold):
            yield Problem(f"a threshold is a finite number, found {self.threshold!r}", ("threshold",))
        reference = self.reference
        if reference is not None and reference.extension not in self.extensions:
            known = ", ".join(self.extensions)
            yield Problem(
                f"`{self.kind}` runs files of the types {known}, found {self.value!r}",
                ("value",),
                "`type: python` runs `.py` files" if reference.extension == ".py" else "rename the file",
            )

    def conclude(self, answer: Answer, evidence: Evidence) -> Outcome:
        """The outcome that a script's answer comes to, `negate` included."""
        terms = Terms(self.threshold, self.negate, self.timeout_ms, self.remedy, self.words)
        return self.guarded(verdict(answer, terms), evidence)

    @property
    def remedy(self) -> str:
        """What to do about a feature that the engine lacks."""
        return NODE_REMEDY
