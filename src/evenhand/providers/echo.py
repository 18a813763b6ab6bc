"""The provider that answers with the question."""

from __future__ import annotations

from typing import ClassVar, Literal

from evenhand.model.exchange import Request, Response
from evenhand.model.provider import PROVIDERS, Keyer, Provider, ProviderContext


@PROVIDERS.register
class Echo(Provider, tag="echo", frozen=True, kw_only=True):
    """Answers with the rendered prompt, to try out prompts and assertions without any system under test.

    Turns come back as `role: text` lines; a case without a prompt gets an empty answer.
    """

    reports_tool_calls: ClassVar[bool] = False
    reads_vars: ClassVar[bool] = False
    reach: ClassVar[Literal["nothing", "hosts", "anything"]] = "nothing"
    keeps_answers: ClassVar[bool] = False
    needs_no_call: ClassVar[bool] = True
    example: ClassVar[str] = """\
- id: mirror
  type: echo
"""

    def keyer(self, context: ProviderContext) -> Keyer:
        """The prompt, which is the answer."""
        return lambda request: {"transport": "echo", "prompt": request.prompt}

    def open(self, context: ProviderContext) -> EchoSession:
        """Make the provider ready for calls."""
        return EchoSession()


class EchoSession:
    """An echo in use."""

    async def complete(self, request: Request) -> Response:
        """The prompt as the answer."""
        return Response(output=request.prompt)

    async def close(self) -> None:
        """Nothing is held."""
