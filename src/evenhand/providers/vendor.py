"""What the APIs of model vendors have in common: address, key, parameters, overlays, prices, one session."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple
from urllib.parse import urlencode

import msgspec
from msgspec import Meta

from evenhand.errors import ErrorClass, Problem, ProviderError, TemplateError
from evenhand.io.hosts import guard_of
from evenhand.io.http import (
    OVERLOAD_STATUSES,
    HttpClient,
    HttpReply,
    HttpRequest,
    refused,
    status_class,
)
from evenhand.io.images import Images
from evenhand.io.protocol import encoded
from evenhand.io.quota_headers import quotas_in
from evenhand.io.reply import in_words
from evenhand.io.shown_call import failed_call, sent_over_http
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Json, Request, Response, Usage
from evenhand.model.provider import Keyer, Provider, ProviderContext, Session
from evenhand.providers.header_secrets import secrets_in
from evenhand.providers.key_ring import KeyRing
from evenhand.providers.keying import digest_unless_faithful, keyed_headers, placeholders
from evenhand.providers.prices import Pricing, cost_usd, rates_of
from evenhand.template import Engine, Scope, Val
from evenhand.text.canonical import canonical
from evenhand.text.excerpt import clipped
from evenhand.text.json_reader import NotJson, read_json

Auth = Literal["api_key", "bearer", "none"]


class Overlay(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, omit_defaults=True):
    """Changes to the calls of a vendor's API. Text is a template over `env`."""

    auth: Annotated[
        Auth | None,
        Meta(
            description="How the key is sent: in the vendor's own header, as a bearer token, or not at all."
        ),
    ] = None
    path: Annotated[
        Annotated[str, Meta(pattern="^/")] | None,
        Meta(description="Path behind the base address instead of the usual one."),
    ] = None
    query: Annotated[dict[str, Val], Meta(description="Parameters behind the address.")] = {}
    headers: Annotated[dict[str, Val], Meta(description="Further headers; they win over all others.")] = {}
    body: Annotated[
        dict[str, Val],
        Meta(description="Merged into the body at every depth; lists and values are replaced."),
    ] = {}

    def templates(self) -> dict[tuple[str, str], Val]:
        """Every value of the overlay, by its place."""
        parts = {"query": self.query, "headers": self.headers, "body": self.body}
        return {(part, name): value for part, values in parts.items() for name, value in values.items()}


_TOKEN_LIMITS = ("max_tokens", "max_completion_tokens", "max_output_tokens")


class VendorProvider(Provider, frozen=True, kw_only=True):
    """A model behind an API over HTTP with JSON bodies."""

    model: Annotated[str, Meta(min_length=1, description="Name of the model, as the vendor knows it.")]
    base_url: Annotated[
        str | None, Meta(description="Address of a compatible API instead of the vendor's own.")
    ] = None
    api_key_env: Annotated[
        str | tuple[str, ...],
        Meta(
            description="Environment variable that holds the key, or several; the first that is set counts."
        ),
    ] = ()
    rotate_keys: Annotated[
        bool,
        Meta(
            description="Spread calls over the keys in all variables of `api_key_env` that are set; a key that is "
            "refused or used up is left out while others go on."
        ),
    ] = False
    params: Annotated[
        dict[str, Any],
        Meta(description="Parameters of the model, such as `temperature`, sent as they are."),
    ] = msgspec.field(default_factory=dict)
    request: Annotated[
        Overlay, Meta(description="Changes to the calls: auth, path, query, headers, body.")
    ] = Overlay()
    pricing: Annotated[Pricing, Meta(description="Rates that win over the built-in table of prices.")] = (
        Pricing()
    )
    timeout_ms: Annotated[
        float, Meta(gt=0, description="Time for one call. A shorter `runner.timeout_ms` counts instead.")
    ] = 120_000

    reads_vars: ClassVar[bool] = False
    reach: ClassVar[Literal["nothing", "hosts", "anything"]] = "hosts"
    own_url: ClassVar[str] = ""
    own_path: ClassVar[str] = ""
    own_auth: ClassVar[Auth] = "bearer"
    key_variables: ClassVar[tuple[str, ...]] = ()
    needs_prompt: ClassVar[bool] = True

    def cost_of(self, usage: Usage) -> float | None:
        """What so many tokens cost by the model's rates."""
        return cost_usd(usage, rates_of(self.model, self.pricing))

    def answer_tokens(self, expected: int) -> int:
        """The tokens that an answer may have: no more than the parameters allow."""
        limits = [self.params.get(name) for name in _TOKEN_LIMITS]
        return min([expected, *(limit for limit in limits if type(limit) is int and limit > 0)])

    @property
    def credentials(self) -> tuple[str, ...]:
        """The variables that may hold the key; none where it is not sent."""
        if self.request.auth == "none":
            return ()
        named = (self.api_key_env,) if isinstance(self.api_key_env, str) else self.api_key_env
        return named or self.key_variables

    @property
    def own_credentials(self) -> tuple[str, ...]:
        """The variables that usually hold the vendor's key."""
        return self.key_variables

    @property
    def own_addresses(self) -> tuple[str, ...]:
        """The vendor's own address."""
        return (self.own_url,)

    def addresses(self) -> Iterator[tuple[str, str]]:
        """The address of the API."""
        yield "base_url", self.base_url or self.own_url

    def secrets(self, env: Mapping[str, str]) -> Iterator[str]:
        """What the overlay's headers hold of credentials."""
        return secrets_in(self.request.headers, env)

    def problems(self, confinement: Confinement) -> list[Problem]:
        """What is wrong with the options beyond their types."""
        engine = Engine()
        problems = [
            problem.under("request", *place)
            for place, value in self.request.templates().items()
            for problem in value.problems(engine)
        ]
        if self.base_url is not None and not self.base_url.startswith(("http://", "https://")):
            hint = "begin it with `https://`"
            problems.append(Problem(f"an address is needed, found {self.base_url!r}", ("base_url",), hint))
        return problems

    @property
    def address(self) -> str:
        """The base of the API's addresses."""
        return (self.base_url or self.own_url).rstrip("/")

    def keyer(self, context: ProviderContext) -> Keyer | None:
        """Method, path, headers and body of the call: the same for whatever host and key it goes to and with."""
        try:
            shown = self.access(None, context.engine, placeholders(context.env))
            real = self.access(None, context.engine, context.env) if context.env else shown
        except TemplateError:
            return None  # opening it fails for the same reason
        base = len((self.base_url or self.own_url).rstrip("/"))
        fixed = {
            "transport": "http",
            "method": "POST",
            "path": shown.url[base:],
            "headers": keyed_headers(shown.headers),
        }
        digest = digest_unless_faithful(_texts(shown), _texts(real), context.env)
        if digest is not None:
            fixed["env_digest"] = digest
        images = Images(context.directory)

        def asked(request: Request) -> Json:
            body = self.body(images.named(request))
            return {**fixed, "body": merged(body, shown.body) if shown.body else body}

        return asked

    def warnings(self, directory: Path) -> list[Problem]:
        """What is legal but suspicious."""
        if not self.rotate_keys or len(self.credentials) > 1:
            return []
        hint = "list them in `api_key_env`"
        return [Problem("calls cannot be spread over keys, since only one is named", ("rotate_keys",), hint)]

    def open(self, context: ProviderContext) -> Session:
        """Make the provider ready for calls. Raises `ProviderError` without a key."""
        keys = [(name, key) for name in self.credentials if (key := os.environ.get(name, "").strip())]
        if not keys and self.credentials:
            names = " or ".join(f"`{name}`" for name in self.credentials)
            raise ProviderError(f"no key: {names} is not set", ErrorClass.PROVIDER_AUTH)
        return VendorSession(self, context, keys if self.rotate_keys else keys[:1])

    def body(self, request: Request) -> dict[str, Any]:
        """The body of a call, without the overlay."""
        raise NotImplementedError

    def read(self, answer: dict[str, Any], request: Request) -> Response:
        """The response in the body of a successful reply."""
        raise NotImplementedError

    def vendor_headers(self) -> dict[str, str]:
        """Headers that the API wants beside the key."""
        return {}

    def access(self, key: str | None, engine: Engine, env: Mapping[str, str]) -> Access:
        """What all calls with a key have in common. Raises `TemplateError`."""
        overlay = self.request
        scope = Scope({"env": dict(env)})
        headers = {"Content-Type": "application/json", **self.vendor_headers()}
        if key is not None:
            bearer = (overlay.auth or self.own_auth) == "bearer"
            headers |= {"Authorization": f"Bearer {key}"} if bearer else {"x-api-key": key}
        for name, value in _rendered(overlay.headers, engine, scope).items():
            headers = {n: v for n, v in headers.items() if n.lower() != name.lower()}
            headers[name] = str(value)
        url = (self.base_url or self.own_url).rstrip("/") + (overlay.path or self.own_path)
        if overlay.query:
            url += "?" + urlencode(sorted(_rendered(overlay.query, engine, scope).items()))
        return Access(url, headers, _rendered(overlay.body, engine, scope))

    def encode(self, request: Request, access: Access) -> HttpRequest:
        """The call that puts a question. Pure."""
        body = self.body(request)
        if access.body:
            body = merged(body, access.body)
        return HttpRequest("POST", access.url, access.headers, encoded(body))

    def decode(self, reply: HttpReply, request: Request) -> Response:
        """The response that a reply holds, with its cost. Pure. Raises `ProviderError`."""
        error = refused(reply)
        if error is not None:
            raise error
        answer = read_json(reply.text)
        if isinstance(answer, NotJson):
            message = f'the answer must be JSON ({answer.message}), found "{clipped(reply.text)}"'
            raise ProviderError(message, ErrorClass.PROVIDER_PROTOCOL)
        if not isinstance(answer, dict):
            message = f"the answer must be an object, found {in_words(answer)}"
            raise ProviderError(message, ErrorClass.PROVIDER_PROTOCOL)
        if answer.get("error"):
            raise reported(answer["error"])
        try:
            response = self.read(answer, request)
        except (KeyError, IndexError, TypeError, AttributeError) as fault:
            message = f"the answer is not of the form of this API: {type(fault).__name__} {fault}"
            raise ProviderError(message, ErrorClass.PROVIDER_PROTOCOL, details=answer) from None
        return self.priced(response)


class Access(NamedTuple):
    """What all calls of an open provider have in common: address, headers with the key, the overlay's body."""

    url: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]


def _texts(access: Access) -> list[str]:
    headers = keyed_headers(access.headers)
    return [access.url, canonical(headers).decode(), canonical(access.body).decode("utf-8", "surrogatepass")]


def _rendered(values: Mapping[str, Val], engine: Engine, scope: Scope) -> dict[str, Any]:
    """The values of a part of the overlay."""
    return {name: value.render(engine, scope) for name, value in values.items()}


class VendorSession:
    """A vendor's API in use."""

    def __init__(
        self, provider: VendorProvider, context: ProviderContext, keys: Sequence[tuple[str, str]]
    ) -> None:
        """`keys` are names of environment variables and the keys in them; none where the API wants no key."""
        self._provider = provider
        self._images = Images(context.directory)
        self._timeout_ms = min(provider.timeout_ms, context.timeout_ms or provider.timeout_ms)
        try:
            named: Sequence[tuple[str, str | None]] = keys or [("", None)]
            self._keys = KeyRing(
                [(name, provider.access(key, context.engine, context.env)) for name, key in named]
            )
        except TemplateError as error:
            raise ProviderError(f"`request`: {error.message}", ErrorClass.RENDER_FAILED) from None
        self._client = HttpClient(context.concurrency, guard_of(context.confinement, provider.own_addresses))
        self._tell_quota = context.tell_quota

    async def complete(self, request: Request) -> Response:
        """Put the question, read the answer. Raises `ProviderError`."""
        if self._provider.needs_prompt and not request.messages:
            raise ProviderError("a model needs a prompt, and the case has none", ErrorClass.PROVIDER_REQUEST)
        request = self._images.filled(request)
        turned_away: ProviderError | None = None
        for _ in range(len(self._keys)):
            place, access = self._keys.take()
            try:
                return await self._exchanged(request, access)
            except ProviderError as error:
                # With one key there is nobody to turn to: the run waits, or stops asking, by its own rules.
                if len(self._keys) == 1 or not self._keys.set_aside(place, error):
                    raise
                turned_away = error
        self._keys.take()
        raise turned_away or ProviderError("no key", ErrorClass.PROVIDER_AUTH)

    async def _exchanged(self, request: Request, access: Access) -> Response:
        call = self._provider.encode(request, access).carrying(request.traceparent)
        reply = None
        try:
            reply = await self._client.send(call, timeout_ms=self._timeout_ms)
            if len(self._keys) == 1:  # what is left of one key says nothing of the others
                for quota in quotas_in(reply.headers, time.time()):
                    self._tell_quota(quota)
            response = self._provider.decode(reply, request)
        except ProviderError as error:
            raise failed_call(error, call, reply)  # noqa: B904  (the same error)
        return msgspec.structs.replace(response, request=sent_over_http(call))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


_RATE_WORDS = ("rate_limit", "rate limit", "too_many_requests", "quota")
_REFUSED_WORDS = ("invalid_", "policy")
_BUSY_WORDS = ("overloaded", "unavailable", "server_error", "api_error", "internal")


def reported(error: Any) -> ProviderError:
    """The failure that a successful reply reports in its body, as gateways do."""
    fields = error if isinstance(error, dict) else {"message": error}
    message = fields.get("message")
    said = message if isinstance(message, str) else in_words(error)
    code = fields.get("code")
    if type(code) is int and 400 <= code < 600:
        error_class, retriable = status_class(code)
        overload = code in OVERLOAD_STATUSES
        return ProviderError(said, error_class, retriable=retriable, details=error, is_overload=overload)
    words = " ".join(str(fields.get(name, "")) for name in ("type", "code", "message")).lower()
    if any(word in words for word in _RATE_WORDS):
        return ProviderError(said, ErrorClass.PROVIDER_RATE_LIMIT, retriable=True, details=error)
    if any(word in words for word in _BUSY_WORDS):
        overload = "overloaded" in words
        return ProviderError(
            said, ErrorClass.PROVIDER_UNAVAILABLE, retriable=True, details=error, is_overload=overload
        )
    if any(word in words for word in _REFUSED_WORDS):
        return ProviderError(said, ErrorClass.PROVIDER_REQUEST, details=error)
    return ProviderError(f"the answer reports an error: {said}", ErrorClass.PROVIDER_PROTOCOL, details=error)


def merged(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Two mappings as one, key by key at every depth; lists and single values of `over` replace."""
    result = dict(base)
    for key, value in over.items():
        mine = result.get(key)
        both = isinstance(mine, Mapping) and isinstance(value, Mapping)
        result[key] = merged(mine, value) if both else value  # type: ignore[arg-type]
    return result
