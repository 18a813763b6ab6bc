"""Graders from what a person wrote: the suite's own, and those of single assertions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec import structs

from evenhand.assertions.judge_prompt import template_problems
from evenhand.config.decode import decode
from evenhand.config.fallbacks import refuse_fallbacks
from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.config.interpolate import interpolate
from evenhand.config.providers import read_provider, refuse_transform
from evenhand.model.confinement import Confinement
from evenhand.model.grading import EVEN_MAJORITY, Grader, Graders, Vote
from evenhand.model.provider import Provider

FILE_PREFIX = "file://"


class GraderReader:
    """Finishes graders: the provider of each made and checked, its template read."""

    def __init__(
        self,
        files: Files,
        confinement: Confinement,
        environ: Mapping[str, str],
    ) -> None:
        self._files = files
        self._confinement = confinement
        self._environ = environ

    def suite_graders(
        self, written: Any, vote: Vote | None, place: Place, providers: Sequence[Provider]
    ) -> Graders:
        """What serves the whole suite: its `grader`, and the first of its providers that makes embeddings."""
        judges: tuple[Grader, ...] = ()
        if isinstance(written, list):
            if not written:
                place.report("a list of graders is empty", "name one, or remove it")
            decoded = [(decode(Grader, item, place.inside(n)), n) for n, item in enumerate(written)]
            judges = self.several([(grader, n) for grader, n in decoded if grader is not None], place)
        elif written is not None:
            grader = decode(Grader, written, place)
            judge = None if grader is None else self.finished(grader, place)
            judges = () if judge is None else (judge,)
            if vote is not None:
                place.report("one judge cannot vote", "list further graders, or remove `vote`")
        if judges and len(judges) % 2 == 0 and vote in (None, "majority"):
            place.add_warning(EVEN_MAJORITY)
        return Graders(judges=judges, vote=vote, embeddings=next((p for p in providers if p.embeds), None))

    def several(self, graders: Sequence[tuple[Grader, int]], place: Place) -> tuple[Grader, ...]:
        """The judges of a list, each with its index in it, without those that were reported."""
        judges: dict[str, Grader] = {}
        for grader, index in graders:
            at = place.inside(index)
            judge = self.finished(grader, at)
            if judge is None:
                continue
            if judge.provider.name in judges:
                hint = "give the provider of each judge its own `id`"
                at.report(f"two judges are called {judge.provider.name!r}", hint)
            judges[judge.provider.name] = judge
        return tuple(judges.values())

    def finished(self, grader: Grader, place: Place) -> Grader | None:
        """The grader with its provider; None after reporting what is wrong with it."""
        at = place.inside("provider")
        block = interpolate(grader.provider, self._environ, at)
        provider = read_provider(block, at, self._confinement)
        grader = structs.replace(grader, template=self._template(grader.template, place))
        for problem in template_problems(grader):
            place.add(problem)
        if provider is None:
            return None
        refuse_transform(provider, at)
        if provider.embeds:
            at.report("an embeddings provider cannot judge", "name a model that answers")
            return None
        refuse_fallbacks(provider, at)
        if provider.cache_salt is not None:
            salt = self._files.salt(provider.cache_salt, {}, at.inside("cache_salt"))
            provider = structs.replace(provider, cache_salt=salt)
        return structs.replace(grader, provider=provider)

    def _template(self, template: str | None, place: Place) -> str | None:
        if template is None or not template.startswith(FILE_PREFIX):
            return template
        read = self._files.text(template, place.inside("template"))
        return None if read is None else read.text
