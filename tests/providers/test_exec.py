from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path

import msgspec
import pytest

from evenhand.errors import ErrorClass, ProviderError
from evenhand.model.confinement import Confinement
from evenhand.model.exchange import Message, Response, Tool, ToolCall, Usage
from evenhand.providers.exec import Exec
from support.programs import (
    ask,
    is_gone,
    open_session,
    program,
    replies,
    request,
    run,
    write,
    written_pids,
)

ECHO = """
    import json, sys
    asked = json.load(sys.stdin)
    json.dump({"output": asked}, sys.stdout)
"""


def provider(folder: Path, source: str, **options: object) -> Exec:
    return Exec(id="app", command=program(folder, source), **options)


def error_of(folder: Path, source: str, **options: object) -> ProviderError:
    (error,) = ask(provider(folder, source, **options), folder)
    assert isinstance(error, ProviderError)
    assert error.error_class is ErrorClass.EXEC_FAILED
    return error


def test_the_whole_question_reaches_the_program(tmp_path):
    asked = request(
        None,
        transcript=(Message(role="user", content='He said "hi" \\ bye'),),
        vars={"t": "naïve ✓ \u2028", "n": [1, None, True]},
        tools=(Tool(name="look"),),
    )
    (response,) = ask(provider(tmp_path, ECHO), tmp_path, asked)
    assert isinstance(response, Response)
    assert response.output == {
        "domarinn": {"protocol": 1, "kind": "provider"},
        "prompt": {"messages": [{"role": "user", "content": 'He said "hi" \\ bye'}]},
        "vars": {"t": "naïve ✓ \u2028", "n": [1, None, True]},
        "params": {},
        "test": {"id": "t", "tags": []},
        "tools": [{"name": "look"}],
    }


def test_a_full_reply_becomes_a_response(tmp_path):
    source = """
        print('''{"output": "na\\u00efve \\u2713", "usage": {"input_tokens": 3, "output_tokens": 4},
        "cost_usd": 0.5, "model": "m", "tool_calls": [{"name": "look", "arguments": {"a": 1}}]}''')
    """
    assert replies(provider(tmp_path, source), tmp_path) == [
        Response(
            output="naïve ✓",
            usage=Usage(input_tokens=3, output_tokens=4),
            cost_usd=0.5,
            model="m",
            tool_calls=(ToolCall(name="look", arguments={"a": 1}),),
        )
    ]


def test_the_environment_is_inherited_and_extended(tmp_path, monkeypatch):
    monkeypatch.setenv("EVENHAND_TEST_INHERITED", "from outside")
    source = """
        import json, os
        names = ("EVENHAND_TEST_INHERITED", "MODE", "DOMARINN_PROTOCOL")
        print(json.dumps({"output": [os.environ.get(name) for name in names] + [os.getcwd()]}))
    """
    (response,) = ask(provider(tmp_path, source, env={"MODE": "test"}), tmp_path)
    assert isinstance(response, Response)
    assert response.output == ["from outside", "test", "1", str(tmp_path)]


def test_a_program_is_found_beside_the_suite(tmp_path):
    script = write(tmp_path / "app", '#!/bin/sh\ncat > /dev/null\nprintf \'{"output": "%s"}\' "$1"\n')
    script.chmod(0o755)
    assert replies(Exec(command=("./app", "a b")), tmp_path) == [Response(output="a b")]


def test_three_megabytes_go_in_and_come_back(tmp_path):
    text = "é" * 1_500_000
    (response,) = ask(provider(tmp_path, ECHO), tmp_path, request(text))
    assert isinstance(response, Response)
    assert response.output["prompt"] == {"text": text}


def test_unpaired_surrogates_survive_the_round_trip(tmp_path):
    (response,) = ask(provider(tmp_path, ECHO), tmp_path, request("a\ud800b"))
    if isinstance(response, Response):
        assert response.output["prompt"] == {"text": "a\ud800b"}
    else:
        assert "stdout must hold one JSON document" in response.message


def test_a_program_may_answer_without_reading_the_question(tmp_path):
    answers = replies(provider(tmp_path, "print('{\"output\": 1}')"), tmp_path, request("x" * 1_000_000))
    assert answers == [Response(output=1)]


def test_a_crash_is_an_error_with_its_last_words(tmp_path):
    source = """
        import sys
        print('{"output": "not to be believed"}')
        print("Traceback ...", file=sys.stderr)
        print("ValueError: no model", file=sys.stderr)
        sys.exit(3)
    """
    error = error_of(tmp_path, source)
    assert error.message.endswith('exited with code 3: "ValueError: no model"')
    assert not error.retriable
    assert error.details == {
        "stdout": '{"output": "not to be believed"}\n',
        "stderr": "Traceback ...\nValueError: no model\n",
    }


def test_a_silent_crash_by_a_signal_is_named(tmp_path):
    error = error_of(tmp_path, "import os, signal; os.kill(os.getpid(), signal.SIGABRT)")
    assert error.message.endswith("was ended by signal SIGABRT")
    assert error.details == {}


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("", "found nothing"),
        ('starting\\n{"output": 1}', "stdout must hold one JSON document and nothing else"),
        ('{"output": 1}{"output": 2}', "stdout must hold one JSON document and nothing else"),
        ('{"answer": 1}', "must have an `output`, found `answer`"),
        ('{"output": 1, "usage": {"input_tokens": "many"}}', "`usage.input_tokens` must be a whole number"),
    ],
)
def test_a_reply_that_breaks_the_protocol_is_a_fatal_error_that_shows_stderr(tmp_path, written, message):
    source = (
        f"import sys; sys.stdout.write({written!r}.replace('\\\\n', chr(10))); print('note', file=sys.stderr)"
    )
    error = error_of(tmp_path, source)
    assert message in error.message
    assert not error.retriable
    if "usage" not in written:
        assert error.details["stderr"] == "note\n"


def test_output_that_is_not_utf8_is_an_error(tmp_path):
    error = error_of(tmp_path, r"""import sys; sys.stdout.buffer.write(b'{"output": "caf\xe9"}')""")
    assert error.message.startswith("stdout must be UTF-8, found invalid continuation byte at byte 15")


def test_a_reported_error_keeps_what_the_program_says_of_it(tmp_path):
    reply = {
        "output": None,
        "error": {"message": "slow down", "retriable": True, "class": "provider_rate_limit"},
    }
    (error,) = ask(provider(tmp_path, f"print({json.dumps(reply)!r})"), tmp_path)
    assert isinstance(error, ProviderError)
    assert (error.message, error.retriable) == ("slow down", True)
    assert error.error_class is ErrorClass.PROVIDER_RATE_LIMIT


def test_a_program_that_takes_too_long_is_killed_and_may_be_tried_again(tmp_path):
    source = "import os, sys, time; print(os.getpid(), file=open('pids', 'w'), flush=True); time.sleep(600)"
    error = error_of(tmp_path, source, timeout_ms=800)
    assert error.retriable
    assert "did not end within 800 ms" in error.message
    assert is_gone(int((tmp_path / "pids").read_text()))


@pytest.mark.parametrize(
    ("own_ms", "runs_ms", "counts"), [(500, 9000, 500), (9000, 500, 500), (500, None, 500)]
)
def test_the_smaller_time_limit_counts(tmp_path, own_ms, runs_ms, counts):
    slow = provider(tmp_path, "import time; time.sleep(600)", timeout_ms=own_ms)
    (error,) = ask(slow, tmp_path, timeout_ms=runs_ms)
    assert isinstance(error, ProviderError)
    assert f"within {counts} ms" in error.message


def test_a_program_that_cannot_be_started_is_an_error(tmp_path):
    (error,) = ask(Exec(command=("./missing",)), tmp_path)
    assert isinstance(error, ProviderError)
    assert error.message.startswith("`./missing` cannot be started: No such file or directory; check that")
    assert error.error_class is ErrorClass.EXEC_FAILED
    assert not error.retriable


def test_cancelling_a_call_leaves_no_process(tmp_path):
    slow = Exec(command=("sh", "-c", "sleep 600 & echo $! >> pids; echo $$ >> pids; wait"))

    async def cancelled() -> list[int]:
        session = open_session(slow, tmp_path)
        call = asyncio.create_task(session.complete(request()))
        pids = await written_pids(tmp_path / "pids", 2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await session.close()
        return pids

    assert all(is_gone(pid) for pid in run(cancelled()))


# Declared options


@pytest.mark.parametrize(
    ("block", "message"),
    [
        ({"command": []}, "Expected `array` of length >= 1"),
        ({"command": "python app.py"}, "Expected `array`, got `str`"),
        ({"command": ["x"], "timeout_ms": 0}, "Expected `float` > 0.0"),
        ({"command": ["x"], "comand": 1}, "unknown field `comand`"),
        ({}, "missing required field `command`"),
    ],
)
def test_options_of_the_wrong_type_are_refused(block, message):
    with pytest.raises(msgspec.ValidationError, match=message.replace("(", r"\(")):
        msgspec.convert({"type": "exec", **block}, Exec)


@pytest.mark.parametrize(
    ("options", "problems"),
    [
        ({"command": ("python3", "")}, []),
        ({"command": (" ",)}, ["command[0]: a command must start with a program, found empty text; "]),
        ({"command": ("a", "b\0c")}, ["command[1]: must not hold a NUL character"]),
        ({"command": ("a",), "env": {"A=B": "x"}}, ["env.A=B: 'A=B' cannot be an environment variable"]),
        ({"command": ("a",), "env": {"": "x", "B": "y\0"}}, ["env.: '' cannot", "env.B: 'B' cannot"]),
    ],
)
def test_options_that_can_never_work_are_problems(tmp_path, options, problems):
    found = [str(problem) for problem in Exec(**options).problems(Confinement(directory=tmp_path))]
    assert len(found) == len(problems)
    assert all(text.startswith(start) for text, start in zip(found, problems, strict=True))


def test_a_program_that_is_not_found_is_a_warning_only(tmp_path):
    write(tmp_path / "app.sh", "#!/bin/sh\n").chmod(0o755)
    write(tmp_path / "plain.txt", "")
    found = {
        command: [str(warning) for warning in Exec(command=(command,)).warnings(tmp_path)]
        for command in ("sh", sys.executable, "./app.sh", "./plain.txt", "./gone.sh", "no-such-program", "")
    }
    assert [command for command, warnings in found.items() if warnings] == [
        "./plain.txt",
        "./gone.sh",
        "no-such-program",
    ]
    assert found["./gone.sh"][0].startswith(f"command[0]: program './gone.sh' was not found in {tmp_path}; ")
    assert found["./plain.txt"][0].startswith("command[0]: program './plain.txt' is not executable; ")
    assert found["no-such-program"][0].startswith(
        "command[0]: program 'no-such-program' was not found on PATH; "
    )


def test_a_program_of_the_folder_is_found_where_the_folder_is_the_current_one(tmp_path, monkeypatch):
    write(tmp_path / "app.sh", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.chdir(tmp_path)
    assert Exec(command=("./app.sh",)).warnings(Path()) == []


def test_a_path_in_env_decides_where_programs_are_looked_for(tmp_path):
    write(tmp_path / "own-tool", "#!/bin/sh\nprintf '{\"output\": 1}'\n").chmod(0o755)
    provider = Exec(command=("own-tool",), env={"PATH": str(tmp_path)})
    assert provider.warnings(tmp_path) == []
    assert replies(provider, tmp_path) == [Response(output=1)]


@pytest.mark.parametrize("persistent", [False, True])
def test_what_a_program_was_sent_is_told_without_the_values_of_its_variables(tmp_path, persistent):
    source = "import sys; sys.stdin.readline(); print('{\"output\": 1}', flush=True)"
    app = Exec(
        command=program(tmp_path, source),
        env={"TOKEN": "hidden"},
        persistent=persistent,
    )
    (response,) = ask(app, tmp_path, request("how many?"))
    sent = response.request
    assert (sent.command, sent.env) == (app.command, ("TOKEN",))
    assert json.loads(sent.stdin)["prompt"] == {"text": "how many?"}
    assert "hidden" not in str(sent)


@pytest.mark.parametrize("persistent", [False, True])
def test_what_a_program_was_sent_is_told_where_it_failed(tmp_path, persistent):
    app = Exec(command=program(tmp_path, "raise SystemExit(3)"), persistent=persistent)
    (error,) = ask(app, tmp_path, request("how many?"))
    assert json.loads(error.request.stdin)["prompt"] == {"text": "how many?"}
