"""Models behind OpenAI's API, at OpenAI or anywhere that speaks it."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar, Literal

from msgspec import Meta

from evenhand.model.exchange import Request, Response
from evenhand.model.provider import PROVIDERS
from evenhand.providers.chat import chat_body, read_chat
from evenhand.providers.responses import read_responses, responses_body
from evenhand.providers.vendor import VendorProvider

Api = Literal["chat", "responses"]


@PROVIDERS.register
class OpenAI(VendorProvider, tag="openai", frozen=True, kw_only=True):
    """A model behind OpenAI's API; with `base_url`, behind any API that is compatible with it.

    It speaks the chat completions API, or with `api: responses` the Responses API, where nothing is stored at the
    vendor unless `params.store` says so. The key is read from `OPENAI_API_KEY` unless `api_key_env` names another
    variable; a server without keys wants `request: {auth: none}`. As a judge, the model is held to a strict JSON
    Schema.
    """

    api: Annotated[Api, Meta(description="The API to speak: chat completions, or the Responses API.")] = (
        "chat"
    )

    own_url: ClassVar[str] = "https://api.openai.com/v1"
    key_variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    takes_images: ClassVar[bool] = True
    example: ClassVar[str] = """\
- id: small
  type: openai
  model: gpt-5-mini
  params: {max_completion_tokens: 500}
- id: thinker
  type: openai
  model: gpt-5
  api: responses
  params: {max_output_tokens: 2000, reasoning: {effort: low, summary: auto}}
- id: local
  type: openai
  model: some-open-model
  base_url: http://127.0.0.1:8080/v1
  request: {auth: none}
"""

    @property
    def own_path(self) -> str:  # type: ignore[override]
        """The path of the API that is spoken."""
        return "/responses" if self.api == "responses" else "/chat/completions"

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a call, without the overlay."""
        make = responses_body if self.api == "responses" else chat_body
        return make(request, self.params, self.model)

    def read(self, answer: dict[str, Any], request: Request) -> Response:
        """The response in the body of a successful reply."""
        return read_responses(answer) if self.api == "responses" else read_chat(answer)
