"""Small suites made in Python, for tests below the loader."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from evenhand.model.exchange import Request, Response
from evenhand.model.provider import Provider, ProviderContext, Session
from evenhand.model.suite import Case, Prompt, Runner, Suite
from evenhand.template import Engine


class Silent(Provider, frozen=True, tag="silent"):
    """A provider that exists only to be named; tests give it a fake session."""

    def open(self, context: ProviderContext) -> Session:
        return _Silence()


class _Silence:
    async def complete(self, request: Request) -> Response:
        return Response(output=request.prompt)

    async def close(self) -> None:
        return None


def provider(provider_id: str) -> Provider:
    """A provider with that id whose answer is the prompt."""
    return Silent(id=provider_id)


class Held(tuple[Case, ...]):
    """Cases in memory."""

    is_held = True


def suite(
    directory: Path,
    cases: Iterable[Case],
    *,
    providers: tuple[Provider, ...] = (provider("one"),),
    prompts: tuple[Prompt, ...] = (),
    runner: Runner = Runner(),
    **fields: Any,
) -> Suite:
    """A finished suite that stands in `directory`."""
    return Suite(
        path=directory / "evenhand.yaml",
        providers=providers,
        prompts=prompts,
        cases=Held(cases),
        runner=runner,
        engine=Engine(),
        **fields,
    )
