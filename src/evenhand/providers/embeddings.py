"""Models that turn texts into vectors, behind OpenAI's embeddings API or one that is compatible with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar, Literal

from evenhand.errors import ErrorClass, Problem, ProviderError
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Request, Response, Usage
from evenhand.model.provider import PROVIDERS, Keyer, ProviderContext, Session
from evenhand.providers.blocks import count
from evenhand.providers.local_embeddings import LocalSession, missing_package
from evenhand.providers.vendor import VendorProvider

LOCAL_MODEL = "local"
_FOR_VENDORS = ("api_key_env", "rotate_keys", "params", "request", "pricing", "timeout_ms")
"""Options that only calls to a vendor read."""


@PROVIDERS.register
class Embeddings(VendorProvider, tag="embeddings", frozen=True, kw_only=True):
    """A model that turns texts into vectors, for `similar`: no system under test, so no case is put to it.

    It speaks OpenAI's embeddings API, at OpenAI or with `base_url` anywhere else. The key is read from
    `OPENAI_API_KEY` unless `api_key_env` names another variable. The first such provider of a suite serves it.

    `model: local` without `base_url` is a small model (multilingual-e5-small) on this machine, without key and
    network; it needs `pip install 'evenhand[local]'`. Its cosines lie between 0.7 and 1: thresholds of other models
    do not fit it.
    """

    embeds: ClassVar[bool] = True
    own_url: ClassVar[str] = "https://api.openai.com/v1"
    own_path: ClassVar[str] = "/embeddings"
    key_variables: ClassVar[tuple[str, ...]] = ("OPENAI_API_KEY",)
    example: ClassVar[str] = """\
- id: vectors
  type: embeddings
  model: text-embedding-3-small
- id: here
  type: embeddings
  model: local
"""

    @property
    def is_local(self) -> bool:
        """Whether the model on this machine is meant."""
        return self.model == LOCAL_MODEL and self.base_url is None

    @property
    def reach(self) -> Literal["nothing", "hosts", "anything"]:  # type: ignore[override]
        """What a call may touch: loading the local model may fetch its files."""
        return "anything" if self.is_local else "hosts"

    @property
    def lacks(self) -> str | None:
        """The package of the local model, where it is not installed."""
        return missing_package() if self.is_local else None

    @property
    def credentials(self) -> tuple[str, ...]:
        """The variables that may hold the key; none for the local model."""
        return () if self.is_local else super().credentials

    def problems(self, confinement: Confinement) -> list[Problem]:
        """What is wrong with the options beyond their types."""
        problems = super().problems(confinement)
        if self.is_local:
            unread = [name for name in _FOR_VENDORS if getattr(self, name) != _DEFAULTS[name]]
            problems += [
                Problem(f"the local model takes no `{name}`", (name,), "remove it") for name in unread
            ]
        return problems

    def warnings(self, directory: Path) -> list[Problem]:
        """What is legal but suspicious."""
        missing = [] if self.lacks is None else [Problem(self.lacks, ("model",))]
        return [*super().warnings(directory), *missing]

    @property
    def needs_no_call(self) -> bool:  # type: ignore[override]
        """Whether the vectors are made in this process."""
        return self.is_local

    def keyer(self, context: ProviderContext) -> Keyer | None:
        """As for every vendor; vectors of the local model are made anew, which costs nothing."""
        return None if self.is_local else super().keyer(context)

    def open(self, context: ProviderContext) -> Session:
        """Make the provider ready for calls. Raises `ProviderError` without a key or a package."""
        if not self.is_local:
            return super().open(context)
        if self.lacks is not None:
            raise ProviderError(self.lacks, ErrorClass.PROVIDER_REQUEST)
        return LocalSession()

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


_DEFAULTS = {name: getattr(Embeddings(id="", model=LOCAL_MODEL), name) for name in _FOR_VENDORS}
