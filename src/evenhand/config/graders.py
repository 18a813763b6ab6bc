"""Graders from what a person wrote: the suite's own, and those of single assertions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from msgspec import structs

from evenhand.assertions.judge_prompt import template_problems
from evenhand.config.decode import decode
from evenhand.config.fallbacks import refuse_fallbacks
from evenhand.config.files import Files
from evenhand.config.findings import Place
from evenhand.config.interpolate import interpolate
from evenhand.config.providers import read_provider, refuse_transform
from evenhand.model.grading import Grader, Graders
from evenhand.model.provider import Provider

FILE_PREFIX = "file://"


class GraderReader:
    """Finishes graders: the provider of each made and checked, its template read."""

    def __init__(
        self,
        files: Files,
        directory: Path,
        environ: Mapping[str, str],
        allowed_outside: tuple[Path, ...] = (),
    ) -> None:
        self._files = files
        self._directory = directory
        self._environ = environ
        self._allowed_outside = allowed_outside

    def suite_graders(self, written: Any, place: Place, providers: Sequence[Provider]) -> Graders:
        """What serves the whole suite: its `grader`, and the first of its providers that makes embeddings."""
        judge = None
        if written is not None:
            grader = decode(Grader, written, place)
            judge = None if grader is None else self.finished(grader, place)
        return Graders(judge=judge, embeddings=next((p for p in providers if p.embeds), None))

    def finished(self, grader: Grader, place: Place) -> Grader | None:
        """The grader with its provider; None after reporting what is wrong with it."""
        at = place.inside("provider")
        block = interpolate(grader.provider, self._environ, at)
        provider = read_provider(block, at, self._directory, self._allowed_outside)
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
        return structs.replace(grader, provider=provider)

    def _template(self, template: str | None, place: Place) -> str | None:
        if template is None or not template.startswith(FILE_PREFIX):
            return template
        read = self._files.text(template, place.inside("template"))
        return None if read is None else read.text
