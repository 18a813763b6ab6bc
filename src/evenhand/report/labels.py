"""How reports name a cell, a status and an assertion."""

from __future__ import annotations

from evenhand.model.result import AssertResult, CaseResult, CellKey, Run
from evenhand.report.encode import json_line

SEPARATOR = " · "


def asked_with(cell: CellKey, *, repeated: bool) -> str:
    """Provider, prompt and, in a repeated run, the repeat: what sets apart the cells of one test."""
    parts = [cell.provider_id]
    if cell.prompt_id is not None:
        parts.append(cell.prompt_id)
    if repeated or cell.repeat:
        parts.append(f"#{cell.repeat}")
    return SEPARATOR.join(parts)


def unique_name(cell: CellKey, *, repeated: bool) -> str:
    """Test, provider, prompt and repeat in one text that no other cell of a run has: `qa/refund [gpt · short · #0]`.

    Characters that could blur where one part ends are escaped with a backslash, so different cells have different
    names whatever their ids hold.
    """
    parts = [_escaped(cell.provider_id, "[·")]
    if cell.prompt_id is not None:
        prompt = _escaped(cell.prompt_id, "[·")
        parts.append(f"\\{prompt}" if prompt.startswith("#") else prompt)
    if repeated or cell.repeat:
        parts.append(f"#{cell.repeat}")
    return f"{_escaped(cell.test_id, '')} [{SEPARATOR.join(parts)}]"


def kind_label(result: AssertResult) -> str:
    """The kind as a suite writes it: `not-contains` for a negated one."""
    criteria = result.criteria
    negated = criteria.get("negate") if isinstance(criteria, dict) else getattr(criteria, "negate", False)
    return f"not-{result.kind}" if negated else result.kind


def is_repeated(run: Run) -> bool:
    """Whether the cells of a run differ by repeat, so that names must say which."""
    return run.repeat > 1


def output_text(case: CaseResult) -> str:
    """The output as text, a structured one as compact JSON."""
    return case.output if isinstance(case.output, str) else json_line(case.output)


def prompt_text(case: CaseResult) -> str:
    """The prompt as it was asked: its text, or its turns as `role: text`."""
    prompt = case.prompt
    if not isinstance(prompt, dict):
        return "" if prompt is None else prompt if isinstance(prompt, str) else json_line(prompt)
    if isinstance(prompt.get("text"), str):
        return str(prompt["text"])
    turns = prompt.get("messages")
    return "\n".join(_turn(turn) for turn in turns) if isinstance(turns, (list, tuple)) else json_line(prompt)


def _turn(turn: object) -> str:
    if not isinstance(turn, dict):
        return json_line(turn)
    content = turn.get("content")
    if isinstance(content, list):
        texts = [block.get("text") for block in content if isinstance(block, dict)]
        content = "".join(text for text in texts if isinstance(text, str))
    return f"{turn.get('role', '?')}: {content if isinstance(content, str) else json_line(content)}"


def _escaped(text: str, special: str) -> str:
    text = text.replace("\\", "\\\\")
    for character in special:
        text = text.replace(character, f"\\{character}")
    return text
