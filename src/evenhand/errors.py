"""The errors that evenhand raises, who must act on each, and the exit code it leads to.

EvenhandError
├── SuiteError        the suite is wrong: every problem found, with its place     (exit 2)
├── UsageError        the command line or a call of the library is wrong          (exit 2)
├── TemplateError     a template or expression could not be rendered              (exit 2)
├── BrokenAssertion   an assertion could not be evaluated                         (exit 2)
├── ProviderError     a call to a system under test or a grader failed            (exit 3)
├── GraderError       a grader gave no trustworthy verdict                        (exit 2 or 3)
├── GeneratorError    a program that makes cases broke                            (exit 3)
├── ServerError       a server that a run was to start does not listen            (exit 3)
├── PluginError       a package that extends evenhand cannot be loaded            (exit 3)
└── StoreError        the run store cannot be used                                (exit 3)

A class is set where the failure happens; nothing reads it out of a message.
"""

from __future__ import annotations

import enum
from pathlib import Path
from typing import Any, NamedTuple

DocumentPath = tuple[str | int, ...]
"""Keys and indexes from the root of a document to one of its values."""


class ExitCode(enum.IntEnum):
    """What a process of evenhand says in one number; 3 outranks 2, and 2 outranks 1."""

    OK = 0
    FAILED = 1
    SUITE = 2
    HARNESS = 3
    INTERRUPTED = 130


class ErrorClass(enum.StrEnum):
    """Why something could not be judged. A class has its own name only if it goes to another owner or fix."""

    PROVIDER_REQUEST = "provider_request"
    PROVIDER_AUTH = "provider_auth"
    PROVIDER_RATE_LIMIT = "provider_rate_limit"
    PROVIDER_UNAVAILABLE = "provider_unavailable"
    PROVIDER_TIMEOUT = "provider_timeout"
    PROVIDER_PROTOCOL = "provider_protocol"
    EXEC_FAILED = "exec_failed"
    CACHE_MISS = "cache_miss"
    CACHE_UNAVAILABLE = "cache_unavailable"
    GRADER_FAILED = "grader_failed"
    GRADER_UNAVAILABLE = "grader_unavailable"
    STORE_UNAVAILABLE = "store_unavailable"
    INTERNAL = "internal"
    GRADER_MISSING = "grader_missing"
    RENDER_FAILED = "render_failed"
    ASSERT_FAILED = "assert_failed"
    CHECKER_FAILED = "checker_failed"
    TRANSFORM_FAILED = "transform_failed"

    @property
    def meaning(self) -> str:
        """When a result gets this class, in one phrase."""
        return _MEANINGS[self]


_MEANINGS = {
    ErrorClass.PROVIDER_REQUEST: "the provider refused the request as it was",
    ErrorClass.PROVIDER_AUTH: "the provider refused the credentials",
    ErrorClass.PROVIDER_RATE_LIMIT: "the provider asked to slow down, to the last attempt",
    ErrorClass.PROVIDER_UNAVAILABLE: "the provider could not serve the request now",
    ErrorClass.PROVIDER_TIMEOUT: "no answer came in time",
    ErrorClass.PROVIDER_PROTOCOL: "the answer was not of the form that the provider's type has",
    ErrorClass.EXEC_FAILED: "the program under test could not be started, crashed, or broke the protocol",
    ErrorClass.CACHE_MISS: "an answer had to come from the cache and was not in it",
    ErrorClass.CACHE_UNAVAILABLE: "the cache could not be read",
    ErrorClass.GRADER_FAILED: "a grader gave no usable verdict",
    ErrorClass.GRADER_UNAVAILABLE: "a grader could not be reached",
    ErrorClass.STORE_UNAVAILABLE: "a result could not be stored",
    ErrorClass.INTERNAL: "evenhand itself failed: a fault to report",
    ErrorClass.GRADER_MISSING: "an assertion needs a grader that the suite does not configure",
    ErrorClass.RENDER_FAILED: "a template did not render with the case's values",
    ErrorClass.ASSERT_FAILED: "an assertion could not be evaluated",
    ErrorClass.CHECKER_FAILED: "a checker program or script broke",
    ErrorClass.TRANSFORM_FAILED: "a transform broke, or gave no value",
}


SUITE_FAULTS = frozenset(
    {
        ErrorClass.GRADER_MISSING,
        ErrorClass.RENDER_FAILED,
        ErrorClass.ASSERT_FAILED,
        ErrorClass.CHECKER_FAILED,
        ErrorClass.TRANSFORM_FAILED,
    }
)
"""Classes that the author of the suite mends; every other one belongs to whoever runs the machinery."""


def exit_code_of(error_class: str | None) -> ExitCode:
    """The exit code of an error class. Unknown and absent classes fail closed, as the machinery's fault."""
    return ExitCode.SUITE if error_class in SUITE_FAULTS else ExitCode.HARNESS


class Location(NamedTuple):
    """A place in a file that a person wrote: 1-based line and column, 0 where only the file is known."""

    file: str
    line: int = 0
    column: int = 0

    def __str__(self) -> str:
        if not self.line:
            return self.file
        return f"{self.file}:{self.line}:{self.column}" if self.column else f"{self.file}:{self.line}"


class Problem(NamedTuple):
    """One thing that is wrong (or, as a warning, suspicious) in what a person wrote.

    `path` leads to the offending value; `message` says what is wrong and what was found; `hint` what to do.
    """

    message: str
    path: DocumentPath = ()
    hint: str = ""
    location: Location | None = None

    def under(self, *prefix: str | int) -> Problem:
        """The same problem seen from a document that holds this one at `prefix`."""
        return self._replace(path=(*prefix, *self.path))

    def __str__(self) -> str:
        where = [str(self.location)] if self.location else []
        if self.path:
            where.append(dotted(self.path))
        text = ": ".join([*where, self.message])
        return f"{text}; {self.hint}" if self.hint else text


def dotted(path: DocumentPath) -> str:
    """A document path as people write it: `tests[0].assert[1].value`."""
    parts: list[str] = []
    for step in path:
        parts.append(f"[{step}]" if isinstance(step, int) else f".{step}" if parts else str(step))
    return "".join(parts)


class EvenhandError(Exception):
    """Anything that evenhand expects to go wrong; shown as one line, never as a traceback."""

    exit_code = ExitCode.HARNESS


class SuiteError(EvenhandError):
    """A suite that cannot be run, with every problem that was found in it."""

    exit_code = ExitCode.SUITE

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems


class UsageError(EvenhandError):
    """A request that cannot be carried out as it was put."""

    exit_code = ExitCode.SUITE


class ClassifiedError(EvenhandError):
    """A failure that ends up in a result, with the class that decides the exit code."""

    def __init__(self, message: str, error_class: ErrorClass, details: Any = None) -> None:
        super().__init__(message)
        self.message = message
        self.error_class = error_class
        self.details = details

    @property
    def exit_code(self) -> ExitCode:  # type: ignore[override]
        return exit_code_of(self.error_class)


class TemplateError(ClassifiedError):
    """A template or expression that does not parse or does not render.

    `line` is 1-based in the template's own text, 0 where unknown. `depends_on_data` is true where the same
    template could render with other values (an undefined name, a wrong type), false where it never can.
    """

    def __init__(self, message: str, *, line: int = 0, depends_on_data: bool = True) -> None:
        super().__init__(message, ErrorClass.RENDER_FAILED)
        self.line = line
        self.depends_on_data = depends_on_data


class BrokenAssertion(ClassifiedError):
    """An assertion that could not be evaluated: an error, which no `negate` can turn into a pass."""

    def __init__(
        self, message: str, error_class: ErrorClass = ErrorClass.ASSERT_FAILED, details: Any = None
    ) -> None:
        super().__init__(message, error_class, details)


class ProviderError(ClassifiedError):
    """A call that brought no response.

    `retriable` says whether the same call may succeed later; `retry_after_ms` is the wait that the other side
    asked for. `is_overload` marks a failure that fewer calls at once would have spared: every `provider_rate_limit`,
    and what else says so.
    """

    def __init__(
        self,
        message: str,
        error_class: ErrorClass,
        *,
        retriable: bool = False,
        retry_after_ms: float | None = None,
        details: Any = None,
        is_overload: bool = False,
    ) -> None:
        super().__init__(message, error_class, details)
        self.retriable = retriable
        self.retry_after_ms = retry_after_ms
        self.request: Any = None
        """What the call sent, as a `SentCall`; None where it got not so far."""
        self.raw: Any = None
        """What came back and could not be used, where the call is one over HTTP: `status`, `headers`, `body`."""
        self.is_overload = is_overload or error_class is ErrorClass.PROVIDER_RATE_LIMIT


class GraderError(ClassifiedError):
    """A grader that gave no trustworthy verdict."""


class GeneratorError(EvenhandError):
    """A program that was to make cases and could not be started, failed, or took too long."""


class ServerError(EvenhandError):
    """A server that a run needs, of the suite's `servers` or its own for traces, and that does not listen."""


class PluginError(EvenhandError):
    """A package that extends evenhand and cannot be loaded."""


class StoreError(EvenhandError):
    """A run store that cannot be opened, read or written."""

    def __init__(self, message: str, path: Path | None = None) -> None:
        super().__init__(f"{path}: {message}" if path else message)
