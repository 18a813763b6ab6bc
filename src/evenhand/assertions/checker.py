"""Checkers: programs of the suite's author that judge an answer over the exec protocol."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, ClassVar

from msgspec import Meta

from evenhand.errors import BrokenAssertion, ErrorClass, Problem, ProviderError
from evenhand.io.process import Command, ProcessFailed, exit_text, run_process
from evenhand.io.program import asked_of_program, files_of
from evenhand.io.protocol import PROTOCOL_ENV, assert_document, assert_fields, one_document, written
from evenhand.io.reply import in_words
from evenhand.model.assertion import ASSERTIONS, Example
from evenhand.model.evidence import Evidence
from evenhand.model.exchange import Response
from evenhand.model.grading import GRADER_TIMEOUT_MS, Desk, GradedAssertion
from evenhand.model.outcome import Outcome, failed, passed
from evenhand.template import Engine
from evenhand.text.excerpt import quoted
from evenhand.text.plain_json import NotPlain, plain_json

REPLY_LIMIT = 8 * 1024 * 1024
"""Bytes of a checker's reply."""


@ASSERTIONS.register
class Exec(GradedAssertion, frozen=True, kw_only=True, tag="exec"):
    """A program of your own says that the output is right.

    It finds one JSON document on stdin (`output`, `test`, `prompt`, `provider`, `config`, `vars`, and `tool_calls`
    where the model made any), writes `{"pass": …, "score": …, "reason": …, "details": …}` to stdout and exits with
    0, also where the output is wrong. `pass` is required; `score` is between 0 and 1, by default 1 or 0. A program
    that exits otherwise, takes too long or writes anything else errors the assertion (`checker_failed`).
    """

    command: Annotated[
        tuple[str, ...],
        Meta(
            min_length=1,
            description="The program and its arguments. A path is relative to the suite's folder.",
        ),
    ]
    config: Annotated[Any, Meta(description="Handed to the program as it is.")] = None
    cache_salt: Annotated[
        str | None, Meta(description="Names the version of the program; other text means another check.")
    ] = None
    timeout_ms: Annotated[
        Annotated[float, Meta(gt=0)] | None,
        Meta(description="Time for one check; by default that of the suite's grader, else two minutes."),
    ] = None

    reads_vars: ClassVar[bool] = True
    runs_programs: ClassVar[bool] = True
    examples = (
        Example(
            options={"command": ["sh", "-c", """grep -q '"output":"Paris"' && echo '{"pass": true}'"""]},
            output="Paris",
            expect="pass",
        ),
        Example(
            options={
                "command": ["sh", "-c", """echo '{"pass": false, "score": 0.4, "reason": "too long"}'"""]
            },
            output="Paris, of course, as everybody knows.",
            expect="fail",
        ),
        Example(options={"command": ["sh", "-c", "exit 3"]}, output="Paris", expect="error"),
    )

    def problems(self, engine: Engine) -> Iterator[Problem]:
        if not self.command[0].strip():
            hint = "name a program first"
            yield Problem("a command must start with a program, found empty text", ("command", 0), hint)
        for index, part in enumerate(self.command):
            if "\0" in part:
                yield Problem("must not hold a NUL character", ("command", index))

    async def grade(self, evidence: Evidence, desk: Desk) -> Outcome:
        shown: dict[str, Any] = {
            "output": evidence.response.output,
            "request": evidence.request,
            "provider_id": evidence.provider_id,
            "config": self.config,
            "vars": evidence.vars,
            "tool_calls": evidence.response.tool_calls,
        }
        files = files_of(self.command, desk.directory)
        asked = asked_of_program(self.command, files, assert_fields(**shown))
        limit_ms = self._limit_ms(desk)

        async def check() -> Response:
            return Response(output=await self._reply(assert_document(**shown), desk.directory, limit_ms))

        response = await desk.recall(
            asked, check, name=self.command[0], salt=self.cache_salt, usable=_outcome_of_response
        )
        return _outcome_of_response(response)

    async def _reply(self, document: bytes, directory: Path, limit_ms: float) -> dict[str, Any]:
        """What the program answers, held against the protocol. Raises `BrokenAssertion`."""
        command = Command(self.command, directory, {**os.environ, **PROTOCOL_ENV})
        try:
            finished = await run_process(command, document, timeout_ms=limit_ms, stdout_limit=REPLY_LIMIT)
        except ProcessFailed as error:
            raise _broken(error.message, written(b"", error.stderr)) from None
        if finished.exit_code != 0:
            lines = finished.stderr.strip().splitlines()
            said = f": {quoted(lines[-1].strip())}" if lines else ""
            details = written(finished.stdout, finished.stderr)
            raise _broken(f"checker {command.name} {exit_text(finished.exit_code)}{said}", details)
        return reply_of(finished.stdout, finished.stderr)

    def _limit_ms(self, desk: Desk) -> float:
        if self.timeout_ms is not None:
            return self.timeout_ms
        judge = desk.graders.judge
        return GRADER_TIMEOUT_MS if judge is None else judge.timeout_ms


def reply_of(stdout: bytes, stderr: str = "") -> dict[str, Any]:
    """A checker's reply that holds a usable verdict. Raises `BrokenAssertion`."""
    details = written(stdout, stderr)
    try:
        reply = one_document(stdout, stderr=stderr)
    except ProviderError as error:
        raise _broken(error.message, error.details) from None
    if not isinstance(reply, dict):
        raise _broken(f"the reply must be a JSON object with `pass`, found {in_words(reply)}", details)
    if "pass" not in reply and reply.get("error") is not None:
        reported = reply["error"]
        said = reported.get("message") if isinstance(reported, dict) else reported
        raise _broken(
            f"the checker reports an error: {said if isinstance(said, str) else in_words(said)}", details
        )
    _outcome(reply, details)
    return reply


def _outcome_of_response(response: Response) -> Outcome:
    """The verdict in a reply that may come from the cache. Raises `BrokenAssertion`."""
    if not isinstance(response.output, dict):
        raise _broken(f"a reply is a JSON object with `pass`, found {in_words(response.output)}", None)
    return _outcome(response.output)


def _outcome(reply: dict[str, Any], details: Any = None) -> Outcome:
    if not isinstance(reply.get("pass"), bool):
        found = in_words(reply["pass"]) if "pass" in reply else "no such key"
        raise _broken(f"the reply's `pass` must be true or false, found {found}", details)
    reason = reply.get("reason")
    if reason is not None and not isinstance(reason, str):
        raise _broken(f"the reply's `reason` must be text, found {in_words(reason)}", details)
    make = passed if reply["pass"] else failed
    return make(reason or "", score=_score(reply, details), details=_details(reply))


def _score(reply: dict[str, Any], details: Any) -> float:
    score = reply.get("score")
    if score is None:
        return 1.0 if reply["pass"] else 0.0
    if type(score) not in (int, float) or not 0 <= score <= 1:
        raise _broken(
            f"the reply's `score` must be a number between 0 and 1, found {in_words(score)}", details
        )
    return float(score)


def _details(reply: dict[str, Any]) -> Any:
    try:
        return plain_json(reply.get("details"))
    except NotPlain as error:
        return {"unreadable": f"`details` {error.message}"}


def _broken(message: str, details: Any) -> BrokenAssertion:
    return BrokenAssertion(message, ErrorClass.CHECKER_FAILED, details or None)
