"""What cells use to reach the world, opened once per run."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import msgspec

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.clock import Clock, SystemClock
from evenhand.io.user_code import raised
from evenhand.model.assertion import Assertion
from evenhand.model.emptiness import empty_reason
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Json, Request, Response
from evenhand.model.outcome import Outcome
from evenhand.model.provider import Provider, ProviderContext, Session
from evenhand.model.result import LimitHistory
from evenhand.model.suite import Case, Suite
from evenhand.model.transform import Transform, TransformFailed
from evenhand.run.budget import Budget
from evenhand.run.groups import Grade
from evenhand.run.keyers import keyer_of
from evenhand.run.line import Line
from evenhand.run.plan import Cell
from evenhand.template import authored
from evenhand.text.json_reader import compact_json
from evenhand.text.pattern import compile_pattern

if TYPE_CHECKING:
    from evenhand.cache.answers import AnswerCache
    from evenhand.scripts.judge import ScriptJudge
    from evenhand.traces.collector import Collector


class Services:
    """Open providers, their rate limits, the clock and the graders of one run. Use as an async context manager."""

    def __init__(
        self,
        suite: Suite,
        providers: Iterable[Provider],
        *,
        clock: Clock | None = None,
        grade: Grade | None = None,
        sessions: Mapping[str, Session] | None = None,
        cache: AnswerCache | None = None,
        random_share: Callable[[], float] = random.random,
        budget: Budget | None = None,
        traces: Collector | None = None,
    ) -> None:
        """`sessions` replaces the session of a provider by id, whose answers are then not kept; tests pass fakes.

        `cache` holds kept answers; it is closed by whoever made it. `budget` limits the run's cost.

        `traces` collects what systems under test report of their calls; graders are not traced.
        """
        self.suite = suite
        self.clock = clock or SystemClock()
        self.grade = grade
        self.cache = cache
        self.random_share = random_share
        self._began = self.clock.monotonic()
        self.budget = budget
        self._providers = tuple(providers)
        self._given = dict(sessions or {})
        self._lines: dict[str, Line] = {}
        self._grader_lines: dict[str, Line] = {}
        self._refusals = [compile_pattern(source) for source in suite.runner.refusal_patterns]
        self._digests = _Digests()
        self._demands: dict[tuple[str, float | None, bool], str] = {}
        self._asked: dict[str, tuple[Provider, str]] = {}
        self._scripts: ScriptJudge | None = None
        self._traces = traces

    async def __aenter__(self) -> Self:
        for provider in self._providers:
            self._lines[provider.id] = self._line_to(provider, self.suite.runner.timeout_ms, self._traces)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        # A stack closes the others too where closing one of them fails.
        async with AsyncExitStack() as closing:
            if self._scripts is not None:
                closing.push_async_callback(self._scripts.close)
            for line in (*self._grader_lines.values(), *self._lines.values()):
                closing.push_async_callback(line.session.close)

    async def judge_scripts(self, assertions: Sequence[Assertion], evidence: Evidence) -> Sequence[Outcome]:
        """The outcomes of a case's script assertions."""
        return await self._opened_scripts().judge(assertions, evidence)

    async def run_transforms(
        self, transforms: Sequence[Transform], evidence: Evidence
    ) -> Sequence[Json | TransformFailed]:
        """What transforms that are scripts make of one output."""
        return await self._opened_scripts().transform(transforms, evidence)

    def _opened_scripts(self) -> ScriptJudge:
        """The engines of scripts, which the first call opens."""
        if self._scripts is None:
            from evenhand.scripts.judge import ScriptJudge

            self._scripts = ScriptJudge(
                self.suite.directory,
                safe_mode=self.suite.runner.safe_mode,
                confinement=self.suite.confinement,
            )
        return self._scripts

    def line(self, provider_id: str) -> Line:
        """The way to a system under test."""
        return self._lines[provider_id]

    def grader_line(self, provider: Provider) -> Line:
        """The way to a grader's model, opened when it is first asked. Equal blocks in a suite share one."""
        key = self._digests.of(provider)
        line = self._grader_lines.get(key)
        if line is None:
            line = self._grader_lines[key] = self._line_to(provider, None)
        return line

    def _line_to(self, provider: Provider, timeout_ms: float | None, traces: Collector | None = None) -> Line:
        runner = self.suite.runner
        line = Line(
            provider,
            concurrency=runner.concurrency,
            rate=runner.rate_limit,
            adapts=runner.adaptive_concurrency,
            clock=self.clock,
            traces=traces,
            began=self._began,
        )
        context = ProviderContext(
            directory=self.suite.directory,
            concurrency=runner.concurrency,
            timeout_ms=timeout_ms,
            engine=self.suite.engine,
            env=self.suite.env,
            confinement=self.suite.confinement,
            tell_quota=line.take_note,
        )
        given = self._given.get(provider.id)
        line.session = given or _opened(provider, context)
        if self.cache is not None and given is None and provider.is_cached:
            line.keyer = keyer_of(provider, self.suite.providers, context)
        return line

    def limit_histories(self) -> tuple[LimitHistory, ...]:
        """The providers that turned calls away, and how the limits on calls to them were adapted."""
        lines = (*self._lines.values(), *self._grader_lines.values())
        return tuple(history for line in lines if (history := line.history()) is not None)

    def empty_reason(self, response: Response, evidence: Evidence) -> str | None:
        """Why the answer counts as empty; a text that matches one of the suite's patterns counts as a refusal."""
        reason = empty_reason(response)
        if reason is None and self._refusals and self._is_refusal(evidence.text):
            return "refusal"
        return reason

    def reason_for_emptiness(self, response: Response) -> str | None:
        """The same where there is no evidence yet."""
        reason = empty_reason(response)
        if reason is None and self._refusals:
            output = response.output
            if self._is_refusal(output if isinstance(output, str) else compact_json(output)):
                return "refusal"
        return reason

    def _is_refusal(self, text: str) -> bool:
        return any(pattern.search(text) for pattern in self._refusals)

    def question_digest(self, provider: Provider) -> str:
        """What in a provider's declaration an answer depends on."""
        asked = self._asked.get(provider.id)
        if asked is None or asked[0] is not provider:
            beside = provider.beside_the_question
            plain = {f.name: f.default for f in msgspec.structs.fields(provider) if f.name in beside}
            asked = (provider, self._digests.of(msgspec.structs.replace(provider, **plain)))
            self._asked[provider.id] = asked
        return asked[1]

    def digests(self, cell: Cell) -> dict[str, str]:
        """What the cell's question and checks were, so that runs can tell which of them changed."""
        digests = {
            "provider_digest": self.question_digest(cell.provider),
            "assert_digest": self._digests.of(cell.case.assertions),
        }
        case = cell.case
        if case.threshold is not None or case.expect_fail is not None:
            digests["assert_digest"] = self._demand(digests["assert_digest"], case)
        transforms = cell.provider.transform, cell.case.transform
        if transforms != (None, None):
            digests["assert_digest"] = digest_with(digests["assert_digest"], transforms)
        if cell.prompt is not None:
            digests["prompt_digest"] = self._digests.of(cell.prompt)
        return digests

    def _demand(self, asserts: str, case: Case) -> str:
        """The digest of what a case demands beside its assertions: its threshold, and that it fails."""
        key = (asserts, case.threshold, case.expect_fail is not None)
        digest = self._demands.get(key)
        if digest is None:
            if len(self._demands) >= _Digests.KEPT:
                self._demands.clear()
            digest = self._demands[key] = digest_with(asserts, key[1:])
        return digest


def digest_with(digest: str, value: Any) -> str:
    """The digest of something and of a value beside it."""
    encoded = msgspec.json.encode([digest, value], order="sorted")
    return f"sha256:{hashlib.sha256(encoded).hexdigest()}"


class _Digests:
    """sha256 of values that many cells share, computed once for each object."""

    KEPT = 1_024

    def __init__(self) -> None:
        self._by_identity: dict[int, tuple[Any, str]] = {}

    def of(self, value: Any) -> str:
        known = self._by_identity.get(id(value))
        if known is not None:
            return known[1]
        encoded = msgspec.json.encode(value, enc_hook=authored, order="sorted")
        digest = f"sha256:{hashlib.sha256(encoded).hexdigest()}"
        if len(self._by_identity) >= self.KEPT:
            self._by_identity.clear()
        # The value is kept beside its digest: an identity is unique only while its object lives.
        self._by_identity[id(value)] = (value, digest)
        return digest


class _Unopened:
    """Stands for a provider that could not be opened: every call to it fails for that reason."""

    def __init__(self, error: ProviderError) -> None:
        self._error = error

    async def complete(self, request: Request) -> Response:
        # Raised for every cell: without this its traceback would grow each time.
        raise self._error.with_traceback(None)

    async def close(self) -> None:
        return None


def _opened(provider: Provider, context: ProviderContext) -> Session:
    try:
        return provider.open(context)
    except ProviderError as error:
        return _Unopened(error)
    except Exception as error:  # noqa: BLE001  (a type of a plugin that breaks must not end the run)
        message = f"provider {provider.id!r} cannot be made ready: {raised(error)}"
        return _Unopened(ProviderError(message, ErrorClass.INTERNAL))
