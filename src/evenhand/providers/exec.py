"""Programs under test that speak the exec protocol: one process per call, or one that stays warm."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Annotated, ClassVar

import msgspec

from evenhand.errors import ErrorClass, Problem, ProviderError
from evenhand.io.images import Images
from evenhand.io.process import Command, ProcessFailed, exit_text, run_process
from evenhand.io.program import asked_of_program, command_warnings, files_of
from evenhand.io.protocol import (
    PROTOCOL_ENV,
    provider_document,
    provider_fields,
    read_provider_reply,
    written,
)
from evenhand.io.shown_call import sent_to_program
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Json, Request, Response
from evenhand.model.provider import PROVIDERS, Keyer, Provider, ProviderContext, Session
from evenhand.providers.persistent import PersistentSession
from evenhand.text.canonical import canonical
from evenhand.text.excerpt import quoted
from evenhand.traces.environment import TRACEPARENT

Meta = msgspec.Meta


@PROVIDERS.register
class Exec(Provider, tag="exec", frozen=True, kw_only=True):
    """A program of your own, in any language: one JSON document on stdin, one on stdout, exit code 0.

    It runs in the suite's folder, without a shell, in the environment of evenhand plus `env`. What it writes to
    stderr is kept for the report of a failed call. When its time is up, or the run is interrupted, it is asked to
    end (SIGTERM) and killed half a second later, together with every process it started.

    A persistent program gets one question at a time, so questions wait for each other, and it is started anew after it
    died, ran out of time or wrote anything but one line for a question. If it repeats the question's
    `domarinn.id` as `id` of its reply, no stray line can ever be taken for an answer.
    """

    command: Annotated[
        tuple[str, ...],
        Meta(
            min_length=1,
            description="The program and its arguments. A path is relative to the suite's folder.",
        ),
    ]
    env: Annotated[
        dict[str, str], Meta(description="Environment variables for the program, beside those of evenhand.")
    ] = msgspec.field(default_factory=dict)
    timeout_ms: Annotated[
        float, Meta(gt=0, description="Time for one call. A shorter `runner.timeout_ms` counts instead.")
    ] = 60_000
    persistent: Annotated[
        bool,
        Meta(
            description="Start the program once and put every question to it as one line of JSON, to be answered "
            "with one line, in turn. For programs that are slow to start."
        ),
    ] = False

    takes_images: ClassVar[bool] = True
    example: ClassVar[str] = """\
- id: app
  type: exec
  command: [python3, app.py]
  env: {APP_MODE: test}
  timeout_ms: 30000
"""

    @property
    def calls_at_once(self) -> int | None:
        """How many calls the provider works on at the same time; None for as many as are asked for."""
        return 1 if self.persistent else None

    def problems(self, confinement: Confinement) -> list[Problem]:
        """What is wrong with the options beyond their types."""
        problems = []
        if not self.command[0].strip():
            hint = "name a program first"
            problems.append(
                Problem("a command must start with a program, found empty text", ("command", 0), hint)
            )
        for index, part in enumerate(self.command):
            if "\0" in part:
                problems.append(Problem("must not hold a NUL character", ("command", index)))
        for name, value in self.env.items():
            if not name or "=" in name or "\0" in name + value:
                problems.append(Problem(f"{name!r} cannot be an environment variable", ("env", name)))
        return problems

    def warnings(self, directory: Path) -> list[Problem]:
        """What is legal but suspicious: a program that is not there (it may be by the time of the run)."""
        return command_warnings(self.command, directory, self.env.get("PATH"))

    def keyer(self, context: ProviderContext) -> Keyer:
        """The command, the files that it names, its own environment variables and what it is sent."""
        files = files_of(self.command, context.directory)
        env = hashlib.sha256(canonical(self.env)).hexdigest() if self.env else None

        def asked(request: Request) -> Json:
            view = asked_of_program(self.command, files, provider_fields(request))
            return view if env is None else {**view, "env_digest": env}

        return asked

    def open(self, context: ProviderContext) -> Session:
        """Make the provider ready for calls."""
        command = Command(self.command, context.directory, {**os.environ, **self.env, **PROTOCOL_ENV})
        timeout_ms = min(self.timeout_ms, context.timeout_ms or self.timeout_ms)
        if self.persistent:
            return PersistentSession(
                command, timeout_ms, Images(context.directory), variables=tuple(self.env)
            )
        return ExecSession(command, timeout_ms, Images(context.directory), tuple(self.env))


class ExecSession:
    """A program that is started anew for every call."""

    def __init__(
        self, command: Command, timeout_ms: float, images: Images, variables: tuple[str, ...] = ()
    ) -> None:
        """`variables` are the names of those that the suite gives the program."""
        self._command = command
        self._variables = variables
        self._timeout_ms = timeout_ms
        self._images = images

    async def complete(self, request: Request) -> Response:
        """Start the program, put the question, read the answer. Raises `ProviderError`."""
        document = provider_document(self._images.filled(request))
        sent = sent_to_program(self._command, self._variables, document)
        try:
            response = await self._answer(request, document)
        except ProviderError as error:
            error.request = sent
            raise
        return msgspec.structs.replace(response, request=sent)

    async def _answer(self, request: Request, document: bytes) -> Response:
        try:
            finished = await run_process(self._command_for(request), document, timeout_ms=self._timeout_ms)
        except ProcessFailed as failed:
            details = written(b"", failed.stderr)
            raise ProviderError(
                failed.message, ErrorClass.EXEC_FAILED, retriable=failed.retriable, details=details
            ) from None
        if finished.exit_code != 0:
            message = f"{self._command.name} {exit_text(finished.exit_code)}{last_line(finished.stderr)}"
            raise ProviderError(
                message, ErrorClass.EXEC_FAILED, details=written(finished.stdout, finished.stderr)
            )
        return read_provider_reply(finished.stdout, stderr=finished.stderr)

    def _command_for(self, request: Request) -> Command:
        if request.traceparent is None:
            return self._command
        return self._command._replace(env={**(self._command.env or {}), TRACEPARENT: request.traceparent})

    async def close(self) -> None:
        """Nothing stays open between calls."""


def last_line(stderr: str) -> str:
    """The last line that a program wrote to stderr, to follow in a message; empty where there is none."""
    lines = stderr.strip().splitlines()
    return f": {quoted(lines[-1].strip())}" if lines else ""
