"""Models of other vendors, reached through the library LiteLLM."""

from __future__ import annotations

import asyncio
import importlib.util
import logging
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar

import msgspec
from msgspec import Meta

from evenhand.errors import ErrorClass, Problem, ProviderError
from evenhand.io.http import retry_after_ms, status_class
from evenhand.io.images import Images
from evenhand.io.shown_call import sent_to_library
from evenhand.model.exchange import Json, Request, Response, Usage
from evenhand.model.provider import PROVIDERS, Keyer, Provider, ProviderContext, Session
from evenhand.providers.blocks import count
from evenhand.providers.chat import chat_body, read_chat
from evenhand.providers.prices import Pricing, cost_usd, rates_of
from evenhand.text.excerpt import clipped
from evenhand.text.plain_json import NotPlain, plain_json

PACKAGE = "litellm"
HINT = "pip install 'evenhand[litellm]'"
_QUIET = {"LITELLM_OFFLINE_MODE": "true", "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
"""Keeps the library from fetching tables of its own when it is imported."""
_REQUEST_TIMEOUT = 408
_SAID_LENGTH = 500


@PROVIDERS.register
class LiteLLM(Provider, tag="litellm", frozen=True, kw_only=True):
    """A model of any vendor that the library LiteLLM reaches: Gemini, Bedrock, Mistral, Ollama and many more.

    Needs `pip install 'evenhand[litellm]'`, which is large and takes seconds to load; the types `openai` and
    `anthropic` do without. `model` is the library's name: the vendor, a slash, the model. Keys are read from the
    variables that the library knows, such as `GEMINI_API_KEY`; name one in `api_key_env` to have it looked for before
    the first call. Retries are the run's own, and the library is kept from calls of its own. Without `pricing`, costs
    are those of the library's table.
    """

    model: Annotated[str, Meta(min_length=1, description="Vendor and model, as the library names them.")]
    base_url: Annotated[str | None, Meta(description="Address of the API instead of the vendor's own.")] = (
        None
    )
    api_key_env: Annotated[
        str | tuple[str, ...],
        Meta(
            description="Environment variable that holds the key, or several; the first that is set counts."
        ),
    ] = ()
    params: Annotated[
        dict[str, Any],
        Meta(description="Parameters of the model in OpenAI's names; the library translates them."),
    ] = msgspec.field(default_factory=dict)
    pricing: Annotated[Pricing, Meta(description="Rates that win over the library's table of prices.")] = (
        Pricing()
    )
    timeout_ms: Annotated[
        float, Meta(gt=0, description="Time for one call. A shorter `runner.timeout_ms` counts instead.")
    ] = 120_000

    takes_images: ClassVar[bool] = True
    reads_vars: ClassVar[bool] = False
    example: ClassVar[str] = """\
- id: gemini
  type: litellm
  model: gemini/gemini-2.5-flash
  api_key_env: GEMINI_API_KEY
  params: {temperature: 0}
"""

    @property
    def credentials(self) -> tuple[str, ...]:
        """The variables that the suite names for the key."""
        return (self.api_key_env,) if isinstance(self.api_key_env, str) else self.api_key_env

    @property
    def lacks(self) -> str | None:
        """The library, where it is not installed."""
        if importlib.util.find_spec(PACKAGE) is not None:
            return None
        return f"the library `{PACKAGE}` is not installed; {HINT}"

    def warnings(self, directory: Path) -> list[Problem]:
        """What is legal but suspicious."""
        return [] if self.lacks is None else [Problem(self.lacks, ("type",))]

    def cost_of(self, usage: Usage) -> float | None:
        """What so many tokens cost by the suite's own rates."""
        return cost_usd(usage, rates_of("", self.pricing))

    @property
    def address(self) -> str:
        """The base of the API's addresses, empty for the vendor's own."""
        return (self.base_url or "").rstrip("/")

    def keyer(self, context: ProviderContext) -> Keyer:
        """The arguments of the library's call, without the address."""
        images = Images(context.directory)

        def asked(request: Request) -> Json:
            arguments = chat_body(images.named(request), self.params, self.model)
            return {"transport": "litellm", "arguments": arguments}

        return asked

    def open(self, context: ProviderContext) -> Session:
        """Begin to load the library. Raises `ProviderError` where it is not installed, or without a key."""
        if self.lacks is not None:
            raise ProviderError(self.lacks, ErrorClass.PROVIDER_REQUEST)
        key = next((os.environ[n].strip() for n in self.credentials if os.environ.get(n, "").strip()), None)
        if key is None and self.credentials:
            names = " or ".join(f"`{name}`" for name in self.credentials)
            raise ProviderError(f"no key: {names} is not set", ErrorClass.PROVIDER_AUTH)
        return LiteLLMSession(self, context, key)

    def encode(self, request: Request) -> dict[str, Any]:
        """The arguments of the library's call, without the key. Pure."""
        where = {} if self.base_url is None else {"api_base": self.base_url}
        return {**chat_body(request, self.params, self.model), **where}

    def decode(self, answer: dict[str, Any], cost: Any = None) -> Response:
        """The response in an answer of the library, with `cost` as its own table has it. Pure.

        Raises `ProviderError`.
        """
        try:
            response = read_chat(answer)
            usage = _usage(answer.get("usage"))
        except (KeyError, IndexError, TypeError, AttributeError) as fault:
            message = f"the answer is not of the form of this library: {type(fault).__name__} {fault}"
            raise ProviderError(message, ErrorClass.PROVIDER_PROTOCOL, details=answer) from None
        own = cost_usd(usage, rates_of("", self.pricing))
        listed = float(cost) if isinstance(cost, (int, float)) and cost >= 0 else None
        return msgspec.structs.replace(response, usage=usage, cost_usd=listed if own is None else own)


class LiteLLMSession:
    """The library in use for one model."""

    def __init__(self, provider: LiteLLM, context: ProviderContext, key: str | None) -> None:
        self._provider = provider
        self._key = {} if key is None else {"api_key": key}
        self._images = Images(context.directory)
        self._timeout_ms = min(provider.timeout_ms, context.timeout_ms or provider.timeout_ms)
        self._loading: asyncio.Future[Any] | None = None

    async def complete(self, request: Request) -> Response:
        """Put the question through the library. Raises `ProviderError`."""
        if not request.messages:
            raise ProviderError("a model needs a prompt, and the case has none", ErrorClass.PROVIDER_REQUEST)
        library = await self._library()
        asked = self._provider.encode(self._images.filled(request))
        sent = sent_to_library(self._provider.encode(self._images.named(request)))
        try:
            response = await self._answer(library, asked)
        except ProviderError as error:
            error.request = sent
            raise
        return msgspec.structs.replace(response, request=sent)

    async def _answer(self, library: Any, asked: dict[str, Any]) -> Response:
        try:
            async with asyncio.timeout(self._timeout_ms / 1_000):
                answer = await library.acompletion(
                    **asked, **self._key, timeout=self._timeout_ms / 1_000, num_retries=0, max_retries=0
                )
        except TimeoutError:
            raise ProviderError(
                f"no answer within {self._timeout_ms:g} ms", ErrorClass.PROVIDER_TIMEOUT, retriable=True
            ) from None
        except Exception as error:  # noqa: BLE001  (the library raises what its vendors' libraries raise)
            raise failure(error, time.time()) from None
        hidden = getattr(answer, "_hidden_params", None) or {}
        return self._provider.decode(_plain(answer), hidden.get("response_cost"))

    async def close(self) -> None:
        """Close the library's connections."""
        if self._loading is not None and self._loading.done() and self._loading.exception() is None:
            await self._loading.result().close_litellm_async_clients()

    async def _library(self) -> Any:
        if self._loading is None:
            self._loading = asyncio.ensure_future(asyncio.to_thread(_imported))
        # A call that is given up must not end the loading, for which others wait.
        return await asyncio.shield(self._loading)


def _imported() -> Any:
    """The library, kept quiet. Loading it takes seconds."""
    for name, value in _QUIET.items():
        os.environ.setdefault(name, value)
    import litellm

    litellm.suppress_debug_info = True
    litellm.drop_params = False
    logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
    return litellm


def failure(error: Exception, now: float) -> ProviderError:
    """The failure that the library reports by raising: all its errors hold a status. `now` in seconds since 1970."""
    said = clipped(str(error).strip() or type(error).__name__, length=_SAID_LENGTH)
    status = getattr(error, "status_code", None)
    if type(status) is not int:
        return ProviderError(f"the library failed: {said}", ErrorClass.PROVIDER_PROTOCOL)
    if status == _REQUEST_TIMEOUT:
        return ProviderError(said, ErrorClass.PROVIDER_TIMEOUT, retriable=True)
    error_class, retriable = status_class(status)
    headers = getattr(getattr(error, "response", None), "headers", None)
    wait = None
    if retriable and isinstance(headers, Mapping):
        wait = retry_after_ms({str(name).lower(): str(value) for name, value in headers.items()}, now)
    return ProviderError(said, error_class, retriable=retriable, retry_after_ms=wait)


def _plain(answer: Any) -> dict[str, Any]:
    try:
        plain = plain_json(answer.model_dump(mode="json", exclude_none=True))
    except (NotPlain, ValueError, AttributeError) as error:
        message = f"the answer cannot be read: {error}"
        raise ProviderError(message, ErrorClass.PROVIDER_PROTOCOL) from None
    if not isinstance(plain, dict):
        raise ProviderError("the answer must be an object", ErrorClass.PROVIDER_PROTOCOL)
    return plain


def _usage(reported: Any) -> Usage | None:
    """Tokens in the library's names. Its prompt tokens hold what was read from a cache and written to one."""
    if not isinstance(reported, dict):
        return None
    details = reported.get("prompt_tokens_details")
    read = count(details.get("cached_tokens")) if isinstance(details, dict) else 0
    written = count(reported.get("cache_creation_input_tokens"))
    return Usage(
        input_tokens=max(0, count(reported.get("prompt_tokens")) - read - written),
        output_tokens=count(reported.get("completion_tokens")),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )
