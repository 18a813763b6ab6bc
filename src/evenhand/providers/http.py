"""Systems under test that answer over HTTP in a form of their own."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import msgspec
from msgspec import Meta

from evenhand.errors import ErrorClass, Problem, ProviderError, TemplateError
from evenhand.io.hosts import guard_of
from evenhand.io.http import HttpClient, HttpReply, HttpRequest, address_fault, refused
from evenhand.io.images import Images
from evenhand.io.quota_headers import quotas_in
from evenhand.io.reply import response_from_reply
from evenhand.io.shown_call import failed_call, sent_over_http
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Json, Request, Response
from evenhand.model.provider import PROVIDERS, Keyer, Provider, ProviderContext, Session
from evenhand.providers.header_secrets import secrets_in
from evenhand.providers.keying import digest_unless_faithful, keyed_headers, placeholders
from evenhand.providers.vendor import reported
from evenhand.template import Engine, Scope, Val, env_names, undefined_names
from evenhand.text.canonical import canonical
from evenhand.text.excerpt import clipped, quoted
from evenhand.text.json_reader import NotJson, compact_json, read_json
from evenhand.text.plain_json import NotPlain, plain_json

Method = Literal[
    "GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "get", "post", "put", "patch", "delete", "head"
]

FIELDS = {
    "usage_expr": "usage",
    "cost_expr": "cost_usd",
    "tool_calls_expr": "tool_calls",
    "model_expr": "model",
    "stop_reason_expr": "stop_reason",
    "reasoning_expr": "reasoning",
    "metadata_expr": "metadata",
    "log_probs_expr": "log_probs",
}
"""Fields of a reply that expressions read, by the option that holds the expression."""
EXPRESSIONS = ("output_expr", "error_expr", *FIELDS)


@PROVIDERS.register
class Http(Provider, tag="http", frozen=True, kw_only=True):
    """A system of your own behind HTTP: templates make the call, expressions read the reply.

    `url`, `headers` and `body` are templates over the case's vars, `env`, `prompt` (the question as one text) and
    `messages` (its turns). A body that is a mapping or list is sent as JSON, with text in place of each template; to
    send other values, write the body as text: `'{"turns": {{ messages | tojson }}}'`. An image in a turn is a block
    with its `media_type` and, in base64, its `data`. Expressions see `response`
    with `status`, `text`, `json` (null where the body is none) and `headers` (names in lower case). Without
    `output_expr`, the output is the body's text. Redirects are not followed.
    """

    url: Annotated[Val, Meta(description="Address to call. A template.")]
    method: Annotated[Method, Meta(description="Method of the call.")] = "POST"
    headers: Annotated[dict[str, Val], Meta(description="Headers of the call. Templates.")] = msgspec.field(
        default_factory=dict
    )
    body: Annotated[Val | None, Meta(description="Body of the call: text, or a value sent as JSON.")] = None
    output_expr: Annotated[
        str | None, Meta(description="Expression for the output: text, or a value that counts as structured.")
    ] = None
    usage_expr: Annotated[
        str | None,
        Meta(description="Expression for the tokens: `input_tokens`, `output_tokens`, `cache_read_tokens`."),
    ] = None
    cost_expr: Annotated[str | None, Meta(description="Expression for the cost in US dollars.")] = None
    tool_calls_expr: Annotated[
        str | None, Meta(description="Expression for the list of tool calls: `name`, `arguments`, `id`.")
    ] = None
    model_expr: Annotated[str | None, Meta(description="Expression for the name of the model.")] = None
    stop_reason_expr: Annotated[
        str | None, Meta(description="Expression for why the model stopped, such as `length`.")
    ] = None
    reasoning_expr: Annotated[str | None, Meta(description="Expression for the reasoning, as text.")] = None
    metadata_expr: Annotated[
        str | None, Meta(description="Expression for metadata, which scripts see as `context.metadata`.")
    ] = None
    log_probs_expr: Annotated[
        str | None,
        Meta(description="Expression for log probabilities, which scripts see as `context.logProbs`."),
    ] = None
    error_expr: Annotated[
        str | None,
        Meta(
            description="Expression for an error in a successful reply: nothing, false or undefined where there is "
            "none. By default the top-level `error` of a JSON object."
        ),
    ] = None
    timeout_ms: Annotated[
        float, Meta(gt=0, description="Time for one call. A shorter `runner.timeout_ms` counts instead.")
    ] = 120_000

    reach: ClassVar[Literal["nothing", "hosts", "anything"]] = "hosts"
    example: ClassVar[str] = """\
- id: shop
  type: http
  url: "http://127.0.0.1:8000/ask?lang={{ lang | urlencode }}"
  headers: {Authorization: "Bearer {{ env.SHOP_TOKEN }}"}
  body: {question: "{{ prompt }}"}
  output_expr: response.json.answer
"""

    @property
    def reports_tool_calls(self) -> bool:  # type: ignore[override]
        """Whether the suite says where the reply holds tool calls."""
        return self.tool_calls_expr is not None

    @property
    def takes_images(self) -> bool:  # type: ignore[override]
        """Whether the body is made of the question's turns, whose images then stand in it as base64."""
        return self.body is not None and "messages" in compact_json(self.body.authored)

    def addresses(self) -> Iterator[tuple[str, str]]:
        """The address, where it is no template."""
        if isinstance(self.url.authored, str) and self.url.is_constant:
            yield "url", self.url.authored

    def secrets(self, env: Mapping[str, str]) -> Iterator[str]:
        """What the headers hold of credentials."""
        return secrets_in(self.headers, env)

    def problems(self, confinement: Confinement) -> list[Problem]:
        """What is wrong with the options beyond their types."""
        engine = Engine()
        problems = [
            problem.under(*place) for place, value in self._templates() for problem in value.problems(engine)
        ]
        for name in EXPRESSIONS:
            expression = getattr(self, name)
            problem = None if expression is None else engine.check_expression(expression)
            if problem is not None:
                problems.append(problem.under(name))
            elif expression is not None:
                problems += [_unknown_name(found).under(name) for found in _unknown_names(expression)]
        if not isinstance(self.url.authored, str) or not self.url.authored.strip():
            problems.append(Problem("an address is text, found another value", ("url",)))
        elif fault := _address_fault(self.url.authored):
            problems.append(
                Problem(f"not an address: {fault}, found {clipped(self.url.authored)!r}", ("url",))
            )
        return problems

    def _templates(self) -> Iterator[tuple[tuple[str, ...], Val]]:
        yield ("url",), self.url
        for name, value in self.headers.items():
            yield ("headers", name), value
        if self.body is not None:
            yield ("body",), self.body

    def keyer(self, context: ProviderContext) -> Keyer:
        """Method, address, headers, body and the expressions that read the reply."""
        engine, env = context.engine, dict(context.env)
        uses_env = any(env_names(text) for _, value in self._templates() for _, text in value.templates())
        shown_env = placeholders(env) if uses_env else {}
        expressions = {name: text for name in EXPRESSIONS if (text := getattr(self, name)) is not None}

        def asked(request: Request) -> Json:
            real = _texts(self.encode(request, engine, env))
            try:
                shown = _texts(self.encode(request, engine, shown_env)) if uses_env else real
            except TemplateError:
                shown = [""] * len(real)
            view = {
                "transport": "http",
                "method": self.method.upper(),
                "url": shown[0],
                "body": shown[1],
                "headers_digest": hashlib.sha256(shown[2].encode("utf-8", "surrogatepass")).hexdigest(),
                **expressions,
            }
            digest = digest_unless_faithful(shown, real, env)
            return view if digest is None else {**view, "env_digest": digest}

        return asked

    def open(self, context: ProviderContext) -> Session:
        """Make the provider ready for calls."""
        return HttpSession(self, context)

    def encode(self, request: Request, engine: Engine, env: dict[str, str]) -> HttpRequest:
        """The call that puts a question. Pure. Raises `TemplateError`."""
        names = {"prompt": request.prompt, "messages": plain_messages(request), **request.vars, "env": env}
        scope = Scope(names)
        headers = {name: str(value.render(engine, scope)) for name, value in self.headers.items()}
        url = str(self.url.render(engine, scope))
        if self.body is None:
            return HttpRequest(self.method.upper(), url, headers)
        content = self.body.render(engine, scope)
        text = content if isinstance(content, str) else compact_json(content)
        if not any(name.lower() == "content-type" for name in headers):
            is_json = not isinstance(content, str) or not isinstance(read_json(text), NotJson)
            headers["Content-Type"] = "application/json" if is_json else "text/plain; charset=utf-8"
        return HttpRequest(self.method.upper(), url, headers, text.encode("utf-8", "surrogatepass"))

    def decode(self, reply: HttpReply, engine: Engine) -> Response:
        """The response that a reply holds. Pure. Raises `ProviderError`."""
        error = refused(reply)
        if error is not None:
            raise error
        value = read_json(reply.text)
        body = None if isinstance(value, NotJson) else value
        seen = {"status": reply.status, "text": reply.text, "json": body, "headers": dict(reply.headers)}
        scope = Scope({"response": seen})
        self._raise_reported(body, engine, scope)
        fields = {name: self._value(expression, engine, scope, reply) for expression, name in FIELDS.items()}
        fields["usage"] = _usage(fields["usage"])
        fields["output"] = (
            reply.text if self.output_expr is None else self._value("output_expr", engine, scope, reply)
        )
        response = response_from_reply(fields, ErrorClass.PROVIDER_PROTOCOL)
        return _with_raw(response, body)

    def _raise_reported(self, body: Any, engine: Engine, scope: Scope) -> None:
        if self.error_expr is None:
            error = body.get("error") if isinstance(body, dict) else None
        else:
            try:
                error = engine.evaluate(self.error_expr, scope)
            except TemplateError as fault:
                if not fault.depends_on_data:
                    raise
                error = None  # what a sound reply lacks is undefined in it
        if error:
            raise reported(error)

    def _value(self, name: str, engine: Engine, scope: Scope, reply: HttpReply) -> Any:
        expression = getattr(self, name)
        if expression is None:
            return None
        try:
            return engine.evaluate(expression, scope)
        except TemplateError as error:
            message = f"`{name}` does not fit the answer: {error.message}"
            raise ProviderError(
                message, ErrorClass.PROVIDER_PROTOCOL, details=f"the answer is {_shown(reply.text)}"
            ) from None


def _shown(text: str) -> str:
    """A reply's body for a message, as much of it as tells what it is."""
    if not text.strip():
        return "empty"
    return f"{quoted(text)}" if not isinstance(read_json(text), NotJson) else f"no JSON: {quoted(text)}"


def _unknown_names(expression: str) -> list[str]:
    """The names of an expression over a reply that nothing stands behind."""
    return sorted(
        {name.partition(".")[0] for name in undefined_names(expression, ("response",), is_expression=True)}
    )


def _unknown_name(name: str) -> Problem:
    return Problem(f"undefined variable `{name}`", (), "an expression over a reply sees `response` alone")


def _address_fault(written: str) -> str:
    """What is wrong with an address as far as it stands before its first template."""
    literal, brace, _ = written.strip().partition("{")
    if not brace:
        return address_fault(literal)
    is_begun = len(literal) >= len("https://")
    return "it must begin with http:// or https://" if is_begun and "://" not in literal else ""


def _texts(call: HttpRequest) -> list[str]:
    """Address, body and headers without credentials, as texts."""
    body = "" if call.body is None else call.body.decode("utf-8", "surrogatepass")
    return [call.url, body, canonical(keyed_headers(call.headers)).decode("utf-8", "surrogatepass")]


def plain_messages(request: Request) -> list[dict[str, Any]]:
    """The turns of a question as templates see them."""
    turns: list[dict[str, Any]] = []
    for message in request.messages:
        turn: dict[str, Any] = {"role": message.role, "content": message.content}
        if message.tool_calls:
            turn["tool_calls"] = [
                {"id": c.id, "name": c.name, "arguments": c.arguments} for c in message.tool_calls
            ]
        if message.tool_call_id is not None:
            turn["tool_call_id"] = message.tool_call_id
        turns.append(turn)
    return turns


class HttpSession:
    """An HTTP system in use."""

    def __init__(self, provider: Http, context: ProviderContext) -> None:
        self._provider = provider
        self._engine = context.engine
        self._env = dict(context.env)
        self._images = Images(context.directory) if provider.takes_images else None
        self._timeout_ms = min(provider.timeout_ms, context.timeout_ms or provider.timeout_ms)
        self._client = HttpClient(context.concurrency, guard_of(context.confinement))
        self._tell_quota = context.tell_quota

    async def complete(self, request: Request) -> Response:
        """Make the call, read the reply. Raises `ProviderError`."""
        if self._images is not None:
            request = self._images.filled(request)
        try:
            call = self._provider.encode(request, self._engine, self._env)
        except TemplateError as error:
            raise ProviderError(error.message, ErrorClass.RENDER_FAILED) from None
        call = call.carrying(request.traceparent)
        reply = None
        try:
            reply = await self._client.send(call, timeout_ms=self._timeout_ms)
            for quota in quotas_in(reply.headers, time.time()):
                self._tell_quota(quota)
            response = self._provider.decode(reply, self._engine)
        except ProviderError as error:
            raise failed_call(error, call, reply)  # noqa: B904  (the same error)
        return msgspec.structs.replace(response, request=sent_over_http(call))

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()


def _usage(usage: Any) -> Any:
    """A usage in the names of this project, also where it has those of OpenAI's API."""
    if not isinstance(usage, dict) or "prompt_tokens" not in usage or "input_tokens" in usage:
        return usage
    return {"input_tokens": usage["prompt_tokens"], "output_tokens": usage.get("completion_tokens")}


def _with_raw(response: Response, body: Any) -> Response:
    try:
        return msgspec.structs.replace(response, raw=plain_json(body))
    except NotPlain:
        return response
