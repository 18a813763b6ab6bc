"""What people write who come from another tool, and what a suite says instead: the hints for unknown names."""

from __future__ import annotations

_RUBRIC = "write an `llm-rubric` that says what you expect"
_TOOLS = "write a `tool-call` with the `name`, and `args` or a `schema`"
_LIBRARY = "call a library of your choice in a `python` check, and give it a `threshold`"

KINDS: dict[str, str] = {
    "agent-rubric": _RUBRIC,
    "answer-relevance": _RUBRIC,
    "bleu": _LIBRARY,
    "classifier": _LIBRARY,
    "contains-all": "write an `all-of` with one `contains` for each text",
    "contains-any": "write an `any-of` with one `contains` for each text, or `icontains-any`",
    "contains-html": _LIBRARY,
    "contains-sql": _LIBRARY,
    "contains-xml": _LIBRARY,
    "context-faithfulness": _RUBRIC,
    "context-recall": _RUBRIC,
    "context-relevance": _RUBRIC,
    "conversation-relevance": _RUBRIC,
    "ends-with": "write a `regex` that ends with `$`",
    "factuality": _RUBRIC,
    "finish-reason": "write `javascript` with `context.providerResponse.finishReason`",
    "g-eval": _RUBRIC,
    "gleu": _LIBRARY,
    "goal-success": _RUBRIC,
    "icontains-all": "write an `all-of` with one `icontains` for each text",
    "is-html": _LIBRARY,
    "is-refusal": "the reason of an empty answer tells a refusal: see `runner.refusal_patterns`",
    "is-sql": _LIBRARY,
    "is-valid-function-call": _TOOLS,
    "is-valid-openai-function-call": _TOOLS,
    "is-valid-openai-tools-call": _TOOLS,
    "is-xml": _LIBRARY,
    "levenshtein": _LIBRARY,
    "max-score": "compare two runs with `evenhand diff`, or write an `llm-rubric`",
    "meteor": _LIBRARY,
    "model-graded-closedqa": _RUBRIC,
    "model-graded-factuality": _RUBRIC,
    "moderation": _LIBRARY,
    "perplexity": "write `javascript` over `context.logProbs`",
    "perplexity-score": "write `javascript` over `context.logProbs`",
    "rouge-n": _LIBRARY,
    "ruby": "write an `exec` with the program and its arguments as `command`",
    "search-rubric": _RUBRIC,
    "select-best": "compare two runs with `evenhand diff`, or write an `llm-rubric`",
    "tool-call-f1": _TOOLS,
    "trajectory:goal-success": _RUBRIC,
    "trajectory:step-count": "write a `trace-span-count`",
    "trajectory:tool-args-match": _TOOLS,
    "trajectory:tool-sequence": "write `javascript` over `context.providerResponse.toolCalls`",
    "trajectory:tool-used": _TOOLS,
    "webhook": "write an `exec` with a program that calls the address, or a `python` check",
    "word-count": 'write `{type: jinja, value: "output | split | length <= 50"}`',
}
"""Kinds of assertions of other tools, with the way to say the same."""

_MAXIMUM = {"threshold": "write `max`", "value": "write `max`"}
_SPOKEN = "write the prompt as turns, the first with `role: system`"
_IN_ASSERT = "write it in an item of `assert`"

_MODEL: dict[str, str] = {
    **dict.fromkeys(
        (
            "frequency_penalty",
            "logprobs",
            "max_completion_tokens",
            "max_output_tokens",
            "max_tokens",
            "presence_penalty",
            "reasoning",
            "reasoning_effort",
            "response_format",
            "seed",
            "stop",
            "stop_sequences",
            "temperature",
            "thinking",
            "tool_choice",
            "top_k",
            "top_logprobs",
            "top_p",
        ),
        "write it under `params`",
    ),
    "api_key": "no key stands in a suite: name the environment variable that holds it with `api_key_env`",
    "config": "write what the model is sent under `params`, and the rest beside `type`",
    "headers": "write it under `request`",
    "system": _SPOKEN,
    "system_prompt": _SPOKEN,
    "tools": "write `tools` at the top of the suite",
    "url": "write `base_url`",
}

KEYS: dict[str, dict[str, str]] = {
    "WrittenSuite": {
        "commandLineOptions": "`runner` and the options of `evenhand run` say how a suite is run",
        "defaultTest": "write `defaults`",
        "evaluateOptions": "write `runner`, with `concurrency` for `maxConcurrency`",
        "nunjucksFilters": "write it as a transform, or in the data",
        "outputPath": "name the file with `evenhand run --out`",
        "scenarios": "write a case with a `matrix`, or cases in a file",
        "sharing": "nothing is sent anywhere: `--out report.html` writes a page that you can pass on",
        "targets": "write `providers`",
    },
    "WrittenCase": {
        "expected": "write what the answer must be as an item of `assert`",
        "input": "write the values of a case under `vars`",
        "metadata": "write `tags`, or `vars`",
        "options": "write `transform`, `repeat` and others in the case itself",
        "provider": "write `only_providers`, a list",
        "type": _IN_ASSERT,
        "value": _IN_ASSERT,
    },
    "WrittenPrompt": {
        "content": "write `template`",
        "raw": "write `template`",
        "text": "write `template`",
    },
    "Grader": dict.fromkeys(
        ("type", "model", "params", "base_url", "api_key_env", "command", "target"),
        "write it under `provider`",
    ),
    "anthropic": _MODEL,
    "contains-json": {"value": "write a schema as `schema`"},
    "cost": _MAXIMUM,
    "exec": {"value": "write the program and its arguments as `command`, a list"},
    "http": {"response": "write `output_expr`", "transformResponse": "write `output_expr`"},
    "is-json": dict.fromkeys(("schema", "value"), "use `contains-json`, which takes a `schema`, beside it"),
    "latency": _MAXIMUM,
    "litellm": _MODEL,
    "llm-rubric": {
        "model": "name the judge with `grader: {provider: {…}}`",
        "provider": "name the judge with `grader: {provider: {…}}`",
        "rubric": "write it as `value`",
        "rubricPrompt": "write it as `template` of the `grader`",
    },
    "openai": _MODEL,
    "regex": {"pattern": "write it as `value`"},
    "tokens": _MAXIMUM,
    "tool-call": {"value": "write the `name` of the tool"},
}
"""Keys that belong elsewhere or have another name here: by the type of an entry, or the class of a mapping."""


def hint_for_key(key: str, owner: str) -> str | None:
    """What to write instead of a key that the type or class `owner` does not take, None where nobody can say."""
    return KEYS.get(owner, {}).get(key)


def as_mapping(text: str) -> str | None:
    """A provider as a mapping that somebody wrote as `vendor:model`, None for another text."""
    vendor, _, rest = text.partition(":")
    model = rest.rpartition(":")[2]
    if vendor in ("openai", "anthropic") and model:
        return f"{{type: {vendor}, model: {model}}}"
    if vendor in ("http", "https") and rest.startswith("//"):
        return f"{{type: http, url: {text!r}}}"
    if vendor == "python" and rest:
        file, _, function = rest.removeprefix("//").partition(":")
        return f"{{type: python, target: 'file://{file}:{function or 'NAME'}'}}"
    return None
