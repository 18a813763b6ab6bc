"""Python functions under test, called in this process."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, ClassVar, NamedTuple

import msgspec

from evenhand.errors import SUITE_FAULTS, ErrorClass, Problem, ProviderError, dotted
from evenhand.io.call_loop import CallLoop
from evenhand.io.deadlines import TimeIsUp
from evenhand.io.given_functions import function_of, is_reference
from evenhand.io.images import Images
from evenhand.io.program import files_of
from evenhand.io.protocol import provider_fields
from evenhand.io.reply import in_words, response_from_reply
from evenhand.io.target import FORMS, parse_target, target_problems
from evenhand.io.threads import MAX_STUCK, CallThreads, CodeRaised, TooManyStuck
from evenhand.io.user_code import CannotLoad, UserCode, raised, traceback_details
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Json, Message, Request, Response, ToolCall
from evenhand.model.provider import PROVIDERS, Keyer, Provider, ProviderContext
from evenhand.text.plain_json import NotPlain, plain_json
from evenhand.traces.propagation import awaited, carried, carried_on

Meta = msgspec.Meta


@PROVIDERS.register
class Python(Provider, tag="python", frozen=True, kw_only=True):
    """A Python function, plain or async, called in process with one `request`.

    The request has `prompt` (text), `messages`, `vars`, `params`, `test` and `tools`, and `traceparent` where the run
    traces. What the function returns is the output: text, or any JSON value (dataclasses, msgspec structs and pydantic
    models count as objects). An `evenhand.Response` carries usage, cost, tool calls and the rest beside the output. To
    report a failure that is worth another attempt, raise an `evenhand.ProviderError` with `retriable=True`; any other
    exception ends the case as an error.

    A plain function runs in a thread, so several calls may be in it at once. Python cannot stop a thread: a call
    that ran out of time goes on in the background, its result is dropped, and another thread takes over. Async
    functions share an event loop of their own; one that blocks it holds up the others until its time is up, and the
    calls after it get a new loop. The file is loaded once for each run, with its folder on the import path. On the
    command line, what the function prints goes to stderr: stdout may hold a report.
    """

    target: Annotated[
        str,
        Meta(
            description="`file://app.py:function`, relative to the suite's folder, or `package.module:function`."
        ),
    ]
    timeout_ms: Annotated[
        float, Meta(gt=0, description="Time for one call. A shorter `runner.timeout_ms` counts instead.")
    ] = 60_000

    takes_images: ClassVar[bool] = True
    keeps_answers: ClassVar[bool] = False
    example: ClassVar[str] = """\
- id: app
  type: python
  target: file://app.py:answer
"""

    def problems(self, confinement: Confinement) -> list[Problem]:
        """What is wrong with the target, found without running it."""
        if is_reference(self.target):
            if function_of(self.target) is not None and not confinement.is_sandbox:
                return []
            return [
                Problem(f"no function was handed over as {self.target!r}", ("target",), "give it in Python")
            ]
        return [found.under("target") for found in target_problems(self.target, confinement)]

    def keyer(self, context: ProviderContext) -> Keyer:
        """The target, its file's content and what the function is given."""
        parsed = parse_target(self.target)
        files = files_of((parsed.path,), context.directory) if parsed is not None and parsed.path else {}

        def asked(request: Request) -> Json:
            given = provider_fields(request)
            return {"transport": "python", "target": self.target, "files": files, "given": given}

        return asked

    def open(self, context: ProviderContext) -> PythonSession:
        """Load the function. Raises `ProviderError` where that fails."""
        if is_reference(self.target):
            return PythonSession(self, GivenCode(function_of(self.target) or _not_given), context)
        parsed = parse_target(self.target)
        if parsed is None:
            raise ProviderError(f"a target must name a function, found {self.target!r}; {FORMS}", _CLASS)
        try:
            code = UserCode(parsed, context.directory)
        except CannotLoad as failure:
            raise ProviderError(failure.message, _CLASS, details=failure.details) from None
        return PythonSession(self, code, context)


_CLASS = ErrorClass.EXEC_FAILED
"""The code under test broke: the same fault as a program that crashes."""


class GivenCode(NamedTuple):
    """A function that a caller of the library handed over: there is nothing to load and nothing to let go of."""

    function: Callable[[Any], Any]

    def close(self) -> None:
        """Nothing to do."""


def _not_given(_: Request) -> Any:
    raise ProviderError("the function was handed over to another process; give it in Python", _CLASS)


class PythonSession:
    """A loaded function and the threads that it is called in."""

    def __init__(self, provider: Python, code: UserCode | GivenCode, context: ProviderContext) -> None:
        self._target = provider.target
        self._code = code
        self._is_async = _is_async(code.function)
        self._images = Images(context.directory)
        # A limit of the run that is as short is kept by the run alone.
        run_keeps_time = context.timeout_ms is not None and context.timeout_ms <= provider.timeout_ms
        self._timeout_s = None if run_keeps_time else provider.timeout_ms / 1_000
        size = context.concurrency
        self._threads = CallThreads(size, "python-provider", timeout_s=self._timeout_s)
        self._loop = CallLoop("python-provider-loop", size=size, timeout_s=self._timeout_s)

    async def complete(self, request: Request) -> Response:
        """Call the function and read what it returns. Raises `ProviderError`."""
        returned = await self._call(self._code.function, _own_copy(self._images.filled(request)))
        # Most functions return text; it needs no further look.
        return Response(output=returned) if type(returned) is str else self._response(returned)

    async def close(self) -> None:
        """Let go of the threads and of the loaded modules."""
        self._loop.close()
        self._threads.close()
        self._code.close()

    async def _call(self, function: Callable[[Any], Any], request: Request) -> Any:
        try:
            if self._is_async:
                if request.traceparent is not None:
                    function = carried_on(function)
                return await self._loop.call(function, request)
            if request.traceparent is not None:
                function = carried(function)
            began = time.monotonic()
            returned = await self._threads.call(function, request)
            if type(returned) is str or not inspect.isawaitable(returned):
                return returned
            return await self._awaited(returned, request.traceparent, began)
        except TimeIsUp:
            message = f"{self._target} did not return within {(self._timeout_s or 0.0) * 1_000:g} ms"
            raise ProviderError(message, ErrorClass.PROVIDER_TIMEOUT, retriable=True) from None
        except TooManyStuck:
            message = (
                f"{self._target} was not called: {MAX_STUCK} earlier calls still run after their time was up, and "
                "Python cannot stop them; give it a time-out of its own, or run it as an `exec` provider"
            )
            raise ProviderError(message, _CLASS) from None
        except CodeRaised as failure:
            raise self._failed(failure.error) from None

    async def _awaited(self, returned: Awaitable[Any], traceparent: str | None, began: float) -> Any:
        """What comes of an awaitable that a plain function returned, in the time that is left."""
        left_s = None if self._timeout_s is None else began + self._timeout_s - time.monotonic()
        try:
            async with asyncio.timeout(left_s):
                return await self._loop.call(partial(awaited, traceparent=traceparent), returned)
        except TimeoutError:
            raise TimeIsUp from None

    def _failed(self, error: BaseException) -> ProviderError:
        if isinstance(error, ProviderError) and error.error_class not in SUITE_FAULTS:
            return error
        message = f"{self._target} raised {raised(error)}"
        return ProviderError(message, _CLASS, details=traceback_details(error))

    def _response(self, returned: Any) -> Response:
        try:
            if isinstance(returned, Response):
                return _checked(returned)
            return Response(output=plain_json(returned))
        except NotPlain as error:
            where = f"`{dotted(('output', *error.path))}`" if error.path else "it"
            message = (
                f"{self._target} must return text, a JSON value or an `evenhand.Response`, found "
                f"{in_words(returned)}: {where} {error.message}"
            )
            raise ProviderError(message, ErrorClass.PROVIDER_PROTOCOL) from None
        except ProviderError:
            raise
        except Exception as error:  # noqa: BLE001  (classes of the code under test may do anything when they are read)
            raise self._unreadable(error) from None
        except (SystemExit, GeneratorExit) as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: BaseException) -> ProviderError:
        message = f"what {self._target} returned cannot be read: it raised {raised(error)}"
        return ProviderError(message, ErrorClass.PROVIDER_PROTOCOL, details=traceback_details(error))


def _is_async(function: Callable[[Any], Any]) -> bool:
    called = getattr(type(function), "__call__", None)  # noqa: B004  (the method is looked at, not whether it is there)
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _checked(response: Response) -> Response:
    """A response that code under test has made, held to the rules for replies. Raises `NotPlain`, `ProviderError`."""
    reply = {
        **msgspec.structs.asdict(response),
        "usage": _fields(response.usage),
        "tool_calls": [_fields(call) for call in response.tool_calls],
    }
    checked = response_from_reply(reply, ErrorClass.PROVIDER_PROTOCOL)
    if response.raw is None and response.log_probs is None:
        return checked
    raw, log_probs = plain_json(response.raw), plain_json(response.log_probs)
    return msgspec.structs.replace(checked, raw=raw, log_probs=log_probs)


def _fields(value: Any) -> Any:
    return msgspec.structs.asdict(value) if isinstance(value, msgspec.Struct) else value


def _own_copy(request: Request) -> Request:
    """The request with data of its own: values are shared between cases, and code under test may change them."""
    if not request.vars and not request.params and not request.transcript:
        return request
    return Request(
        text=request.text,
        transcript=None if request.transcript is None else tuple(map(_copied_message, request.transcript)),
        vars=_copied(request.vars),
        params=_copied(request.params),
        tools=request.tools,
        test=request.test,
        repeat=request.repeat,
        traceparent=request.traceparent,
    )


def _copied_message(message: Message) -> Message:
    if not message.tool_calls and not isinstance(message.content, list):
        return message
    calls = tuple(
        ToolCall(name=call.name, arguments=_copied(call.arguments), id=call.id) for call in message.tool_calls
    )
    return msgspec.structs.replace(message, content=_copied(message.content), tool_calls=calls)


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _copied(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_copied(item) for item in value]
    return value
