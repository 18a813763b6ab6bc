"""What is wrong or suspicious about a finished case, given the rest of the suite."""

from __future__ import annotations

import math
from collections.abc import Iterable, KeysView, Sequence

from evenhand.config.case_names import CaseNames
from evenhand.config.defaults import Defaults
from evenhand.config.document import CASE_ASSERT
from evenhand.config.findings import Place
from evenhand.config.quoted_answers import rubrics_that_quote
from evenhand.config.turns import images_in, starts_without_user
from evenhand.config.var_use import VarUse
from evenhand.config.wording import found
from evenhand.errors import Problem
from evenhand.model.assertion import placed, walk
from evenhand.model.grading import GradedAssertion, Graders
from evenhand.model.provider import Provider
from evenhand.model.suite import Case, HistoryMarker, Prompt
from evenhand.registry import nearest
from evenhand.template import Engine


class CaseChecker:
    """Checks cases one by one as they pass; what only all of them show is asked for at the end."""

    def __init__(
        self,
        *,
        providers: Sequence[Provider],
        graders: Graders = Graders(),
        prompts: Sequence[Prompt],
        defaults: Defaults,
        defaults_place: Place,
        engine: Engine,
        traces: bool = False,
    ) -> None:
        self._providers = {provider.id: provider for provider in providers}
        self._graders = graders
        self.has_graded_cases = False
        self.has_repeats = False
        """Whether any case so far holds an assertion that asks a grader."""
        self._deaf = [provider for provider in providers if not provider.reports_tool_calls]
        self._blind = [provider for provider in providers if not provider.takes_images]
        self._prompts_with_images = [
            (index, prompt) for index, prompt in enumerate(prompts) if images_in(prompt.messages)
        ]
        self._traces = traces
        self._defaults = defaults
        self._defaults_place = defaults_place
        self._names = CaseNames(prompts, defaults.assertions, engine)
        self._splices_first = any(_splices_history_first(prompt) for prompt in prompts) or not prompts
        self._var_use = VarUse(providers, prompts)
        self._fallback_only = {provider.id for provider in providers if provider.fallback_only}
        self._unused = set(self._providers) - self._fallback_only
        self._count = 0
        self._sound_names: KeysView[str] | None = None
        """The vars of a case that had nothing beside them of its own, and about which there was nothing to say."""

    def check(self, case: Case, place: Place, *, is_first: bool, is_whole: bool) -> None:
        """Check a case.

        `is_first` is false for further repetitions of one case over its matrix; `is_whole` is false where parts of
        it were left out because they were reported.
        """
        self._count += 1
        # Most cases of a large file differ in the values of their vars alone, which no check looks at.
        is_plain = self._is_plain(case)
        if is_plain and is_whole and case.vars.keys() == self._sound_names:
            return
        before = place.findings.voiced
        self._check_alone(case, place, is_first=is_first, is_whole=is_whole)
        if is_plain and is_first and is_whole and place.findings.voiced == before:
            self._sound_names = case.vars.keys()

    def _is_plain(self, case: Case) -> bool:
        """Whether a case has nothing of its own but vars without templates."""
        defaults = self._defaults
        if case.assertions is not defaults.assertions or case.threshold != defaults.threshold:
            return False
        if case.history or case.only_providers or case.skip_providers:
            return False
        return all(value.is_constant for value in case.vars.values())

    def _check_alone(self, case: Case, place: Place, *, is_first: bool, is_whole: bool) -> None:
        self._names.check(case, place)
        self._check_providers(case, place, is_first)
        if is_whole:
            self._var_use.see(case, place)
        if case.repeat is not None:
            self.has_repeats = True
        for assertion in walk(case.assertions):
            if isinstance(assertion, GradedAssertion):
                self._see_graded(assertion, place)
        if is_first and is_whole:
            self._check_verdict(case, place)
            if not self._traces:
                self._check_traces(case, place)
            if self._deaf:
                self._check_tool_calls(case, place)
            if self._blind:
                self._check_images(case, place)
            self._check_threshold(case, place)
            if self.has_graded_cases:
                self._check_rubrics(case, place)
            if case.history and self._splices_first and starts_without_user(case.history):
                place.inside("history").warn("the conversation begins with a turn of the assistant or a tool")

    def check_together(self, root: Place) -> None:
        """Say what only all cases together show."""
        self._var_use.warn_of_unused()
        for index, provider_id in enumerate(self._providers):
            if provider_id in self._unused and self._count:
                root.inside("providers", index).warn(f"no case is put to provider {provider_id!r}")

    def _see_graded(self, assertion: GradedAssertion, place: Place) -> None:
        """A run refuses such a case only if it is selected, so loading does no more than warn."""
        self.has_graded_cases = True
        missing = assertion.missing(self._graders)
        if missing is not None and place.findings.first_time(("grader", missing)):
            place.warn(missing)

    def _check_verdict(self, case: Case, place: Place) -> None:
        if case.assertions:
            return
        if case.expect_fail is not None:
            place.inside("expect_fail").warn("the case is expected to fail, but has no assertion that could")
        else:
            place.warn("the case has no assertions, so nothing is checked", "add `assert`")

    def _check_traces(self, case: Case, place: Place) -> None:
        for assertion, path, _ in placed(case.assertions):
            at = self._place_of(path, place) if assertion.needs_trace else None
            if at is not None and at.findings.first_time(("traces", at.path, str(at.location.file))):
                message = f"`{assertion.kind}` needs spans, and the suite receives none"
                at.report(message, "set `tracing: {enabled: true}`")

    def _check_threshold(self, case: Case, place: Place) -> None:
        threshold = case.threshold
        if threshold is None:
            return
        at = place.inside("threshold")
        is_free = any(assertion.scores_freely for assertion in walk(case.assertions))
        if not math.isfinite(threshold) or not (is_free or 0 <= threshold <= 1):
            at.report(f"a threshold is between 0 and 1, found {found(threshold)}")
        elif threshold == 0 and not is_free and place.findings.first_time(("threshold", at.location.file)):
            at.warn("a threshold of 0 is always met", "set the score that must be reached")
        if case.assertions and not any(assertion.weight for assertion in case.assertions):
            at.report("every assertion weighs 0, so that the threshold is always met", "give one a weight")

    def _check_providers(self, case: Case, place: Place, is_first: bool) -> None:
        if not (case.only_providers or case.skip_providers):
            self._unused.clear()
            return
        self._unused.difference_update(self._put_to(case))
        if is_first:
            self._check_ids(case.only_providers, place.inside("only_providers"))
            self._check_ids(case.skip_providers, place.inside("skip_providers"))

    def _check_ids(self, ids: Iterable[str], place: Place) -> None:
        for index, provider_id in enumerate(ids):
            if provider_id not in self._providers:
                close = nearest(provider_id, self._providers)
                hint = f"did you mean {close!r}?" if close else "name a provider by its `id`"
                place.inside(index).report(f"no provider has the id {provider_id!r}", hint)

    def _put_to(self, case: Case) -> list[str]:
        """The providers that may answer a case, those that only do so for another one included."""
        ids = case.only_providers or self._providers
        admitted = [provider_id for provider_id in ids if provider_id not in case.skip_providers]
        if not self._fallback_only:
            return admitted
        asked = [self._providers[name] for name in admitted if name in self._providers]
        reachable = {name for provider in asked if not provider.fallback_only for name in provider.fallback}
        return [name for name in admitted if name not in self._fallback_only or name in reachable]

    def _check_tool_calls(self, case: Case, place: Place) -> None:
        put_to = set(self._put_to(case))
        deaf = [provider for provider in self._deaf if provider.id in put_to]
        for assertion, path, is_turned in placed(case.assertions):
            at = self._place_of(path, place) if assertion.needs_tool_calls else None
            if at is None:
                continue
            for provider in deaf:
                if at.findings.first_time(("tool calls", at.path, str(at.location.file), provider.id)):
                    _report_deaf(provider, at, always_holds=is_turned)

    def _check_rubrics(self, case: Case, place: Place) -> None:
        for path, message in rubrics_that_quote(case.assertions):
            at = self._place_of(path, place)
            if at is not None and at.findings.first_time(("quotes", at.path, at.origin, message)):
                at.warn(message, "let the rubric say what else makes an answer right")

    def _place_of(self, path: tuple[str | int, ...], place: Place) -> Place | None:
        """Where an assertion of a case is written; None where shared ones that were reported are missing before it."""
        shared = len(self._defaults.assertions)
        index = int(path[0])
        if index >= shared:
            return place.inside(CASE_ASSERT, index - shared, *path[1:])
        return self._defaults_place.inside(CASE_ASSERT, *path) if self._defaults.is_whole else None

    def _check_images(self, case: Case, place: Place) -> None:
        if not (self._prompts_with_images or case.history):
            return
        put_to = set(self._put_to(case))
        for provider in self._blind:
            if provider.id not in put_to:
                continue
            message = f"provider {provider.id!r} cannot take images"
            hint = "leave it out with `skip_providers`"
            if images_in(case.history):
                place.inside("history").report(message, hint)
            for index, prompt in self._prompts_with_images:
                if place.findings.first_time(("images", prompt.id, provider.id)):
                    place.findings.add(Problem(message, ("prompts", index), hint, prompt.location))


def _splices_history_first(prompt: Prompt) -> bool:
    """Whether a case's history would begin the conversation, but for the system's turns."""
    for turn in prompt.messages:
        if isinstance(turn, HistoryMarker):
            return True
        if turn.role != "system":
            return not any(isinstance(other, HistoryMarker) for other in prompt.messages)
    return True


def _report_deaf(provider: Provider, place: Place, *, always_holds: bool) -> None:
    message = f"provider {provider.id!r} cannot report tool calls"
    hint = "leave it out with `skip_providers`"
    if always_holds:
        place.report(f"{message}, so that this check would always hold", hint)
    else:
        place.warn(f"{message}, so that this check always fails", hint)
