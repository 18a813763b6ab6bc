"""Models that turn texts into vectors, behind OpenAI's embeddings API or one that is compatible with it."""

from __future__ import annotations

from typing import Any, ClassVar

from evenhand.model.exchange import Request, Response, Usage
from evenhand.model.provider import PROVIDERS
from evenhand.providers.blocks import count
from evenhand.providers.vendor import VendorProvider


@PROVIDERS.register
class Embeddings(VendorProvider, tag="embeddings", frozen=True, kw_only=True):
    """A model that turns texts into vectors, for `similar`: no system under test, so no case is put to it.

    It speaks OpenAI's embeddings API, at OpenAI or with `base_url` anywhere else. The key is read from
    `OPENAI_API_KEY` unless `api_key_env` names another variable. The first such provider of a suite serves it.
    """

    embeds: ClassVar[bool] = True
    own_url: ClassVar[str] = "https://api.openai.com/v1"
    own_path: ClassVar[str] = "/embeddings"
    key_variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    example: ClassVar[str] = """\
- id: vectors
  type: embeddings
  model: text-embedding-3-small
"""

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a call, without the overlay."""
        fixed = {"model": self.model, "input": request.prompt, "encoding_format": "float"}
        return {**self.params, **request.params, **fixed}

    def read(self, answer: dict[str, Any], request: Request) -> Response:
        """The vector in the body of a successful reply."""
        usage = answer.get("usage")
        tokens = count(usage.get("prompt_tokens")) if isinstance(usage, dict) else 0
        return Response(
            output=answer["data"][0]["embedding"],
            usage=Usage(input_tokens=tokens) if tokens else None,
            model=answer.get("model"),
        )
