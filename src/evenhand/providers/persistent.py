"""A program under test that stays warm: the documents of the exec protocol as JSON lines over one child.

Questions are put in turn. An answer is matched to its question by its place in the stream; so whenever there is any
doubt about that place, the child is killed and the next question goes to a fresh one. One doubt cannot be seen from
outside: a stray line that is a complete reply, written in the instant before the child reads its next question. A
program rules it out by repeating each question's number as `id`; from its first numbered reply on, it must.
"""

from __future__ import annotations

import asyncio

import msgspec

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.images import Images
from evenhand.io.process import STDOUT_LIMIT, Child, Command, ProcessFailed, exit_text
from evenhand.io.protocol import answered_id, provider_document, read_reply_document, written
from evenhand.io.reply import Reply, response_from_reply
from evenhand.io.shown_call import sent_to_program
from evenhand.model.exchange import Request, Response
from evenhand.text.excerpt import quoted

CLOSE_GRACE_S = 2.0
"""Seconds that the program may take to end once its input has ended."""
EXIT_GRACE_S = 0.5
"""Seconds to wait for the exit code of a program whose output has ended."""

_ONE_LINE = "a persistent program writes exactly one line for each question; write logs to stderr"


class PersistentSession:
    """One warm child and the turn-taking for it."""

    def __init__(
        self,
        command: Command,
        timeout_ms: float,
        images: Images,
        *,
        line_limit: int = STDOUT_LIMIT,
        variables: tuple[str, ...] = (),
    ) -> None:
        """`variables` are the names of those that the suite gives the program."""
        self._command = command
        self._variables = variables
        self._timeout_ms = timeout_ms
        self._images = images
        self._line_limit = line_limit
        self._turn = asyncio.Lock()
        self._child: Child | None = None
        self._questions = 0
        self._numbers_replies = False

    async def complete(self, request: Request) -> Response:
        """Put the question when its turn comes and read the answer. Raises `ProviderError`."""
        request = self._images.filled(request)
        async with self._turn:
            document = provider_document(request, id=self._questions + 1)
            sent = sent_to_program(self._command, self._variables, document)
            try:
                reply = await self._asked(document)
                # Whatever is wrong with the fields of an answer to this question, the child may stay.
                response = response_from_reply(reply)
            except ProviderError as error:
                error.request = sent
                raise
        return msgspec.structs.replace(response, request=sent)

    async def _asked(self, document: bytes) -> Reply:
        """The reply to a question; where none came, the child is gone. Raises `ProviderError`."""
        try:
            return await self._ask(document)
        except ProcessFailed as failed:
            await self._discard()
            raise self._failure(failed.message, failed.stderr, retriable=failed.retriable) from None
        except BaseException:
            await self._discard()
            raise

    async def close(self) -> None:
        """End the child's input, give it a moment to end by itself, and make sure that it is gone."""
        if self._child is not None:
            self._child.close_input()
            await self._child.ended(within_s=CLOSE_GRACE_S)
            await self._discard()

    async def _ask(self, document: bytes) -> Reply:
        child = await self._ready_child()
        self._questions += 1
        number = self._questions
        try:
            async with asyncio.timeout(self._timeout_ms / 1000):
                child.send(document + b"\n")
                line = await child.read_line()
        except TimeoutError:
            message = (
                f"{self._command.name} did not answer within {self._timeout_ms:g} ms and was killed; a persistent "
                "program must answer each line of its input as it comes, and flush its output"
            )
            raise self._failure(message, child.stderr, retriable=True) from None
        if line is None:
            raise await self._broken_off(child)
        self._refuse_doubt(child, line)
        reply = read_reply_document(line, id=number, stderr=child.stderr)
        self._refuse_missing_number(child, reply, line)
        return reply

    async def _ready_child(self) -> Child:
        """The warm child; a new one where there is none or where it has ended since its last answer."""
        if self._child is not None:
            # Two passes of the event loop bring in whatever has happened since the last answer.
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            self._refuse_leftovers(self._child)
            if self._child.exit_code is not None or not self._child.is_writing:
                await self._discard()
        if self._child is None:
            self._child = await Child.start(self._command, stdout_limit=self._line_limit)
        return self._child

    def _refuse_leftovers(self, child: Child) -> None:
        if child.unclaimed:
            found = _excerpt(child.unclaimed)
            message = f"{self._command.name} wrote more after its last answer, found {found}; {_ONE_LINE}"
            raise self._failure(message, child.stderr)

    def _refuse_doubt(self, child: Child, line: bytes) -> None:
        if child.unread_input:
            message = (
                f"{self._command.name} wrote a line before it had read the question, found {_excerpt(line)}"
            )
        elif child.unclaimed:
            found = _excerpt(child.unclaimed)
            message = f"{self._command.name} wrote more than its one line, found {found} after it"
        else:
            return
        raise self._failure(f"{message}; {_ONE_LINE}", child.stderr)

    def _refuse_missing_number(self, child: Child, reply: Reply, line: bytes) -> None:
        if answered_id(reply) is not None:
            self._numbers_replies = True
        elif self._numbers_replies:
            message = (
                f"{self._command.name} numbered an earlier reply and not this one, found {_excerpt(line)}"
            )
            raise self._failure(f"{message}; {_ONE_LINE}", child.stderr)

    async def _broken_off(self, child: Child) -> ProviderError:
        await child.ended(within_s=EXIT_GRACE_S)
        code = child.exit_code
        how = "closed its output" if code is None else exit_text(code)
        return self._failure(f"{self._command.name} {how} before it answered", child.stderr, retriable=True)

    def _failure(self, message: str, stderr: str, *, retriable: bool = False) -> ProviderError:
        return ProviderError(
            message, ErrorClass.EXEC_FAILED, retriable=retriable, details=written(b"", stderr)
        )

    async def _discard(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.stop()


def _excerpt(data: bytes) -> str:
    return quoted(data[:400].decode(errors="replace").strip())
