"""Answers to a plan's questions that are kept already, looked up without asking anybody."""

from __future__ import annotations

from evenhand.cache.answers import AnswerCache, CacheUnavailable
from evenhand.cache.question import question_of
from evenhand.errors import ClassifiedError, TemplateError
from evenhand.model.exchange import Request, Response
from evenhand.model.provider import Keyer, Provider, ProviderContext
from evenhand.model.suite import Suite
from evenhand.run.keyers import keyer_of
from evenhand.run.plan import Cell, needs_fresh_call
from evenhand.run.render import render_request
from evenhand.template import order_vars, render_scope


class KeptAnswers:
    """What a cache holds for the cells of a suite; called with a cell and its question."""

    def __init__(self, suite: Suite, cache: AnswerCache) -> None:
        self._suite = suite
        self._cache = cache
        self._keyers: dict[str, Keyer | None] = {}

    def __call__(self, cell: Cell, request: Request) -> Response | None:
        """The kept answer, None where a call would be made."""
        keyer = self._keyer(cell.provider)
        if keyer is None or needs_fresh_call(cell.case):
            return None
        try:
            question = question_of(
                keyer(request),
                repeat=request.repeat,
                provider_salt=cell.provider.cache_salt,
                case_salt=cell.case.cache_salt,
            )
            return self._cache.find(question)
        except (ClassifiedError, CacheUnavailable):
            return None

    def has_answer(self, cell: Cell) -> bool:
        """Whether no call to the system under test would be made for a cell."""
        try:
            values, scope = render_scope(order_vars(cell.case.vars, self._suite.engine), self._suite.env)
            request = render_request(self._suite, cell.case, cell.prompt, cell.key.repeat, values, scope)
        except TemplateError:
            return False
        return self(cell, request) is not None

    def _keyer(self, provider: Provider) -> Keyer | None:
        if provider.id not in self._keyers:
            suite = self._suite
            context = ProviderContext(directory=suite.directory, engine=suite.engine, env=suite.env)
            self._keyers[provider.id] = (
                keyer_of(provider, suite.providers, context) if provider.is_cached else None
            )
        return self._keyers[provider.id]
