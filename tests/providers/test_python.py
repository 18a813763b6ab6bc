from __future__ import annotations

import asyncio
import sys

import msgspec
import pytest

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Response, TestInfo, Tool, ToolCall, Usage
from evenhand.model.provider import ProviderContext
from evenhand.providers.python import Python
from support.programs import answer, ask, open_session, request, run
from support.python_apps import KINDS, error_of, provider


@pytest.fixture(params=KINDS.values(), ids=KINDS)
def head(request):
    return request.param


def test_a_function_gets_the_whole_request(tmp_path, head):
    source = f"""
{head}
    return [request.prompt, len(request.messages), request.vars, request.params,
            request.test.id, request.test.tags, [tool.name for tool in request.tools], request.repeat]
"""
    asked = request(
        "hi",
        vars={"a": 1},
        params={"t": 0},
        tools=(Tool(name="look"),),
        test=TestInfo(id="x", tags=("smoke",)),
        repeat=2,
    )
    expected = ["hi", 1, {"a": 1}, {"t": 0}, "x", ["smoke"], ["look"], 2]
    assert ask(provider(tmp_path, source), tmp_path, asked) == [Response(output=expected)]


@pytest.mark.parametrize(
    ("returned", "output"),
    [
        ("'text'", "text"),
        ("''", ""),
        ("None", None),
        ("42", 42),
        ("2.5", 2.5),
        ("True", True),
        ("[1, (2, 'x')]", [1, [2, "x"]]),
        ("{'a': {'b': None}}", {"a": {"b": None}}),
        ("'lone \\ud800'", "lone \ud800"),
        ("2**70", 2**70),
    ],
)
def test_what_a_function_returns_is_the_output(tmp_path, head, returned, output):
    assert ask(provider(tmp_path, f"{head} return {returned}"), tmp_path) == [Response(output=output)]


def test_a_dataclass_is_an_output_of_its_fields(tmp_path):
    source = "@dataclasses.dataclass\nclass Reply:\n    text: str\ndef answer(request): return Reply('x')"
    assert ask(provider(tmp_path, source), tmp_path) == [Response(output={"text": "x"})]


def test_a_response_carries_everything_else(tmp_path, head):
    source = f"""
{head}
    return Response(
        output={{"n": (1, 2)}}, usage=Usage(input_tokens=3), cost_usd=1, model="m", stop_reason="end_turn",
        empty_reason="", reasoning="hm", metadata={{"k": (1,)}}, raw={{"r": 1}}, log_probs=[-0.5],
        tool_calls=(ToolCall(name="look", arguments={{"x": 1}}), ToolCall(name="")),
        latency_ms=1e9, cached=True, attempts=7)
"""
    assert ask(provider(tmp_path, source), tmp_path) == [
        Response(
            output={"n": [1, 2]},
            usage=Usage(input_tokens=3),
            cost_usd=1.0,
            model="m",
            stop_reason="end_turn",
            reasoning="hm",
            metadata={"k": [1]},
            raw={"r": 1},
            log_probs=[-0.5],
            tool_calls=(ToolCall(name="look", arguments={"x": 1}),),
        )
    ]


def test_parts_of_a_response_may_be_plain_mappings(tmp_path):
    source = (
        "def answer(r): return Response(output='', usage={'input_tokens': 3}, tool_calls=[{'name': 'look'}])"
    )
    (response,) = ask(provider(tmp_path, source), tmp_path)
    assert isinstance(response, Response)
    assert response.usage == Usage(input_tokens=3)
    assert response.tool_calls == (ToolCall(name="look"),)


@pytest.mark.parametrize(
    ("returned", "found"),
    [
        ("b'bytes'", "found a value of type `bytes`: it is of type `bytes`, which is not JSON"),
        ("{1, 2}", "found a value of type `set`: it is of type `set`, which is not JSON"),
        ("object()", "found a value of type `object`: it is of type `object`, which is not JSON"),
        (
            "(n for n in [1])",
            "found a value of type `generator`: it is of type `generator`, which is not JSON",
        ),
        ("float('nan')", "found nan: it is nan, which is not a JSON number"),
        ("{'a': [1, float('inf')]}", "found an object: `output.a[1]` is inf, which is not a JSON number"),
        ("{1: 2}", "found an object: it has a key of type `int`, and JSON keys are text"),
        (
            "Response(output='', raw={1})",
            "found a value of type `Response`: it is of type `set`, which is not JSON",
        ),
    ],
)
def test_a_value_that_is_no_json_is_refused_with_what_was_returned(tmp_path, returned, found):
    error = error_of(tmp_path, f"def answer(request): return {returned}")
    assert error.error_class is ErrorClass.PROVIDER_PROTOCOL
    assert error.message.startswith(
        "file://app.py:answer must return text, a JSON value or an `evenhand.Response`, "
    )
    assert error.message.endswith(found)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ("output=object()", "the reply's `output` is of type `object`, which is not JSON"),
        (
            "output='', cost_usd=float('nan')",
            "the reply's `cost_usd` must be a finite number of 0 or more, found nan",
        ),
        (
            "output='', usage=Usage(input_tokens=-1)",
            "`usage.input_tokens` must be a whole number of 0 or more, found -1",
        ),
        ("output='', usage=5", "the reply's `usage` must be an object, found 5"),
        ("output='', model=5", "the reply's `model` must be text, found 5"),
        ("output='', tool_calls=('look',)", '`tool_calls[0]` must be an object, found the text "look"'),
    ],
)
def test_a_wrong_field_of_a_response_is_refused(tmp_path, fields, message):
    error = error_of(tmp_path, f"def answer(request): return Response({fields})")
    assert error.error_class is ErrorClass.PROVIDER_PROTOCOL
    assert error.message.endswith(message)


def test_an_exception_is_an_error_that_names_the_line(tmp_path, head):
    error = error_of(tmp_path, f"def helper():\n    raise ValueError('no model')\n{head}\n    helper()")
    assert error.message == "file://app.py:answer raised ValueError: no model (app.py:6)"
    assert error.error_class is ErrorClass.EXEC_FAILED
    assert not error.retriable
    lines = error.details["traceback"].splitlines()
    assert [line for line in lines if "evenhand" in line] == []
    assert lines[-1] == "ValueError: no model"


@pytest.mark.parametrize(
    ("statement", "name"),
    [
        ("sys.exit(2)", "SystemExit: 2"),
        ("raise KeyboardInterrupt('mine')", "KeyboardInterrupt: mine"),
        ("raise asyncio.CancelledError('odd')", "CancelledError: odd"),
        ("raise TimeoutError('mine')", "TimeoutError: mine"),
        ("raise BaseException('base')", "BaseException: base"),
        ("raise ExceptionGroup('many', [ValueError('x')])", "ExceptionGroup: many (1 sub-exception)"),
        ("answer(request, 1)", "TypeError: answer() takes 1 positional argument but 2 were given"),
        ("def deep(n): return deep(n + 1)\n    deep(0)", "RecursionError: maximum recursion depth exceeded"),
    ],
)
def test_whatever_a_function_raises_is_an_error_of_its_case(tmp_path, statement, name):
    error = error_of(tmp_path, f"def answer(request):\n    {statement}")
    assert error.message.startswith(f"file://app.py:answer raised {name}")
    assert error.error_class is ErrorClass.EXEC_FAILED


@pytest.mark.parametrize("statement", ["sys.exit(2)", "raise asyncio.CancelledError"])
def test_an_async_function_cannot_end_the_run(tmp_path, statement):
    assert "raised" in error_of(tmp_path, f"async def answer(request): {statement}").message


def test_an_interruption_that_a_function_makes_up_is_an_error_of_its_case(tmp_path, head):
    error = error_of(tmp_path, f"{head} raise KeyboardInterrupt('mine')")
    assert error.message == "file://app.py:answer raised KeyboardInterrupt: mine (app.py:5)"


def test_an_exception_that_cannot_be_shown_is_told_by_its_type(tmp_path, head):
    source = f"""
class Odd(Exception):
    def __str__(self): sys.exit(0)
{head} raise Odd
"""
    assert error_of(tmp_path, source).message.startswith("file://app.py:answer raised Odd (app.py:")


@pytest.mark.parametrize("raised", ["SystemExit(0)", "ValueError('no')", "GeneratorExit"])
def test_a_value_that_cannot_be_read_is_an_error_of_its_case(tmp_path, head, raised):
    source = f"""
class Odd(dict):
    def items(self): raise {raised}
    __iter__ = items
{head} return Odd(a=1)
"""
    error = error_of(tmp_path, source)
    assert "what file://app.py:answer returned cannot be read: it raised" in error.message
    assert error.error_class is ErrorClass.PROVIDER_PROTOCOL


def test_a_provider_error_says_itself_how_to_go_on(tmp_path, head):
    source = f"""
{head}
    raise ProviderError("busy", ErrorClass.PROVIDER_RATE_LIMIT, retriable=True, retry_after_ms=5)
"""
    error = error_of(tmp_path, source)
    assert (error.message, error.error_class) == ("busy", ErrorClass.PROVIDER_RATE_LIMIT)
    assert (error.retriable, error.retry_after_ms) == (True, 5)


def test_a_provider_error_cannot_blame_the_suite(tmp_path):
    error = error_of(tmp_path, "def answer(r): raise ProviderError('x', ErrorClass.ASSERT_FAILED)")
    assert error.error_class is ErrorClass.EXEC_FAILED


def test_callables_of_every_kind_are_called(tmp_path):
    source = """
import functools
async def later(request): return "later " + request.prompt
class Answerer:
    async def __call__(self, request): return "object " + request.prompt
    def method(self, request): return "method " + request.prompt
    async def slow(self, request): return "slow " + request.prompt
def hidden(request): return later(request)
def two(word, request): return word + " " + request.prompt
answerer = Answerer()
partial = functools.partial(two, "partial")
async_partial = functools.partial(later)
"""
    targets = ("answerer", "answerer.method", "answerer.slow", "hidden", "partial", "async_partial")
    outputs = []
    for target in targets:
        (response,) = ask(provider(tmp_path, source, f"file://app.py:{target}"), tmp_path)
        assert isinstance(response, Response), response
        outputs.append(response.output)
    expected = ["object", "method", "slow", "later", "partial", "later"]
    assert outputs == [f"{word} hello" for word in expected]


# Loading


def test_the_file_is_loaded_once_for_a_run_and_anew_for_the_next(tmp_path):
    source = "count = 0\ndef answer(request):\n    global count\n    count += 1\n    return [count, {mark!r}]"
    first = ask(provider(tmp_path, source.format(mark="old")), tmp_path, request(), request())
    assert [each.output for each in first] == [[1, "old"], [2, "old"]]
    second = ask(provider(tmp_path, source.format(mark="new")), tmp_path)
    assert second == [Response(output=[1, "new"])]
    assert "app" not in sys.modules


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        (
            "raise ImportError('no driver')",
            "file://app.py:answer",
            "app.py cannot be loaded: ImportError: no driver",
        ),
        ("", "file://app.py:answer", "`answer` in app.py must be a function, found nothing"),
        (
            "",
            "file://app.py",
            "a target must name a function, found 'file://app.py'; write `file://app.py:function`",
        ),
        ("", "no_such_module_x:answer", "no_such_module_x cannot be loaded: ModuleNotFoundError"),
    ],
)
def test_a_function_that_cannot_be_loaded_is_an_error_of_the_provider(tmp_path, source, target, message):
    with pytest.raises(ProviderError) as caught:
        provider(tmp_path, source, target).open(ProviderContext(directory=tmp_path))
    assert caught.value.message.startswith(message)
    assert caught.value.error_class is ErrorClass.EXEC_FAILED


def test_problems_of_the_target_point_at_the_option(tmp_path):
    broken = provider(tmp_path, "def anser(request): ...")
    assert [str(problem) for problem in broken.problems(Confinement(directory=tmp_path))] == [
        "target: app.py has no `answer`; did you mean `anser`?"
    ]
    outside = tmp_path / "suite"
    outside.mkdir()
    elsewhere = Python(target="file://../app.py:anser")
    assert "code must lie inside" in str(elsewhere.problems(Confinement(directory=outside))[0])
    assert elsewhere.problems(Confinement(directory=outside, code_roots=(tmp_path.resolve(),))) == []


def test_options_of_the_wrong_type_are_refused():
    with pytest.raises(msgspec.ValidationError, match="missing required field `target`"):
        msgspec.convert({"type": "python"}, Python)
    with pytest.raises(msgspec.ValidationError, match="unknown field `targets`"):
        msgspec.convert({"type": "python", "target": "a:b", "targets": 1}, Python)


def test_what_a_function_prints_goes_where_prints_go(tmp_path, capsys):
    assert ask(provider(tmp_path, "def answer(request): print('note'); return 1"), tmp_path) == [
        Response(output=1)
    ]
    assert capsys.readouterr().out == "note\n"


def test_hundreds_of_calls_of_both_kinds_come_back_in_their_places(tmp_path, head):
    async def body() -> list[object]:
        session = open_session(provider(tmp_path, f"{head} return request.prompt"), tmp_path, concurrency=32)
        answers = await asyncio.gather(*(answer(session.complete(request(str(n)))) for n in range(500)))
        await session.close()
        return [each.output for each in answers]

    assert run(body()) == [str(number) for number in range(500)]
