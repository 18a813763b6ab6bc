from __future__ import annotations

import asyncio
import os
import textwrap
from pathlib import Path

import pytest

from evenhand.errors import ErrorClass, ProviderError
from evenhand.io.images import Images
from evenhand.io.process import Command
from evenhand.model.exchange import Response
from evenhand.providers.exec import Exec
from evenhand.providers.persistent import PersistentSession
from support.programs import answer, ask, exists, is_gone, open_session, program, request, run, written_pids

LOOP = """
import json, os, sys, time
os.write(os.open("pids", os.O_WRONLY | os.O_CREAT | os.O_APPEND), b"%d\\n" % os.getpid())
def reply(output, **more):
    print(json.dumps({"output": output, **more}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    text = asked["prompt"]["text"]
"""


def warm(folder: Path, body: str, **options: object) -> Exec:
    """A persistent program that runs `body` for each question, with its text in `text`."""
    source = LOOP + textwrap.indent(textwrap.dedent(body), "    ")
    return Exec(id="app", command=program(folder, source), persistent=True, **options)


def outputs(answers: list[Response | ProviderError]) -> list[object]:
    return [each.output if isinstance(each, Response) else each.message for each in answers]


def pids(folder: Path) -> list[int]:
    return [int(line) for line in (folder / "pids").read_text().split()]


def questions(*texts: str) -> list:
    return [request(text) for text in texts]


def test_one_program_answers_every_question(tmp_path):
    provider = warm(tmp_path, "reply(text.upper())")
    assert outputs(ask(provider, tmp_path, *questions("a", "b", "c"))) == ["A", "B", "C"]
    assert len(pids(tmp_path)) == 1
    assert is_gone(pids(tmp_path)[0])


def test_questions_are_put_in_turn_and_numbered(tmp_path):
    provider = warm(tmp_path, "reply([text, asked['domarinn']], id=asked['domarinn']['id'])")

    async def body() -> list[object]:
        session = open_session(provider, tmp_path, concurrency=8)
        calls = [session.complete(request(str(number))) for number in range(32)]
        answers = await asyncio.gather(*calls)
        await session.close()
        return [each.output for each in answers]

    envelope = {"protocol": 1, "kind": "provider"}
    assert run(body()) == [[str(n), {**envelope, "id": n + 1}] for n in range(32)]
    assert provider.calls_at_once == 1


def test_large_questions_and_answers_fit_on_a_line(tmp_path):
    text = "é\n" * 1_000_000
    assert outputs(ask(warm(tmp_path, "reply(text)"), tmp_path, *questions(text, "b"))) == [text, "b"]


def test_a_program_that_was_never_asked_is_never_started(tmp_path):
    async def body() -> None:
        session = open_session(warm(tmp_path, "reply(text)"), tmp_path)
        await session.close()

    run(body())
    assert not (tmp_path / "pids").exists()


def test_a_death_costs_only_the_call_in_flight(tmp_path):
    provider = warm(
        tmp_path, "print('last words', file=sys.stderr); os._exit(7) if text == 'die' else reply(text)"
    )
    first, died, last = ask(provider, tmp_path, *questions("a", "die", "b"))
    assert outputs([first, last]) == ["a", "b"]
    assert isinstance(died, ProviderError)
    assert died.message.endswith("exited with code 7 before it answered")
    assert (died.error_class, died.retriable) == (ErrorClass.EXEC_FAILED, True)
    assert len(pids(tmp_path)) == 2


def test_a_death_between_questions_costs_nothing(tmp_path):
    provider = warm(tmp_path, "reply(text)\nif text == 'a': os._exit(0)")

    async def body() -> list[object]:
        session = open_session(provider, tmp_path)
        first = await session.complete(request("a"))
        await asyncio.to_thread(is_gone, pids(tmp_path)[0])
        second = await session.complete(request("b"))
        await session.close()
        return [first.output, second.output]

    assert run(body()) == ["a", "b"]


def test_a_program_that_dies_every_time_is_an_error_every_time(tmp_path):
    answers = ask(warm(tmp_path, "os._exit(1)"), tmp_path, *questions("a", "b", "c"))
    assert all(isinstance(each, ProviderError) for each in answers)
    assert len(pids(tmp_path)) == 3


def test_a_time_out_costs_only_the_call_in_flight(tmp_path):
    provider = warm(tmp_path, "time.sleep(600) if text == 'hang' else reply(text)", timeout_ms=1500)
    first, hung, last = ask(provider, tmp_path, *questions("a", "hang", "b"))
    assert outputs([first, last]) == ["a", "b"]
    assert isinstance(hung, ProviderError)
    assert "did not answer within 1500 ms and was killed" in hung.message
    assert hung.retriable
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_late_answer_never_becomes_the_answer_to_another_question(tmp_path):
    provider = warm(tmp_path, "time.sleep(2 if text == 'slow' else 0); reply(text)", timeout_ms=1000)
    slow, *others = ask(provider, tmp_path, *questions("slow", "b", "c"))
    assert isinstance(slow, ProviderError)
    assert outputs(others) == ["b", "c"]


def test_cancelling_a_call_starts_the_program_anew(tmp_path):
    provider = warm(tmp_path, "time.sleep(600) if text == 'hang' else reply(text)")

    async def body() -> object:
        session = open_session(provider, tmp_path)
        call = asyncio.create_task(session.complete(request("hang")))
        waiting = asyncio.create_task(session.complete(request("b")))
        await written_pids(tmp_path / "pids")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        second = await waiting
        await session.close()
        return second.output

    assert run(body()) == "b"
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_cancelling_a_call_that_waits_for_its_turn_disturbs_nobody(tmp_path):
    provider = warm(tmp_path, "time.sleep(0.3); reply(text)")

    async def body() -> list[object]:
        session = open_session(provider, tmp_path)
        first = asyncio.create_task(session.complete(request("a")))
        waiting = asyncio.create_task(session.complete(request("b")))
        await written_pids(tmp_path / "pids")
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        last = await session.complete(request("c"))
        await session.close()
        return [(await first).output, last.output]

    assert run(body()) == ["a", "c"]
    assert len(pids(tmp_path)) == 1


NOISE = {
    "two answers": "reply(text); reply('stray')",
    "an answer and a log line": "reply(text); print('done', flush=True)",
    "an answer and half a line": "reply(text); sys.stdout.write('{'); sys.stdout.flush()",
    "a log line first": "print('thinking', flush=True); reply(text)",
    "an empty line first": "print(flush=True); reply(text)",
    "another number": "reply(text, id=asked['domarinn']['id'] + 1)",
    "no output": "print(json.dumps({'answer': text}), flush=True)",
    "two answers in one write": "sys.stdout.write(2 * (json.dumps({'output': text}) + chr(10))); sys.stdout.flush()",
    "a numbered answer and a stray one": "reply(text, id=asked['domarinn']['id']); time.sleep(0.05); reply('stray')",
}


@pytest.mark.parametrize("body", NOISE.values(), ids=NOISE)
def test_noise_is_an_error_and_never_the_answer_to_another_question(tmp_path, body):
    answers = ask(warm(tmp_path, body), tmp_path, *questions("a", "b", "c", "d"))
    assert all(
        isinstance(each, ProviderError) or each.output == text
        for each, text in zip(answers, "abcd", strict=True)
    )
    errors = [each for each in answers if isinstance(each, ProviderError)]
    assert errors
    assert all(error.error_class is ErrorClass.EXEC_FAILED and not error.retriable for error in errors)
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_a_program_that_numbers_its_replies_must_number_them_all(tmp_path):
    provider = warm(tmp_path, "reply(text, id=asked['domarinn']['id']) if text == 'a' else reply(text)")
    first, second, third = ask(provider, tmp_path, *questions("a", "b", "a"))
    assert outputs([first, third]) == ["a", "a"]
    assert isinstance(second, ProviderError)
    assert 'numbered an earlier reply and not this one, found "{"output": "b"}"' in second.message


def test_an_answer_before_the_question_was_read_is_noise(tmp_path):
    source = """
        import json, sys, time
        print(json.dumps({"output": "eager"}), flush=True)
        time.sleep(1)
        for line in sys.stdin: print(json.dumps({"output": "late"}), flush=True)
    """
    provider = Exec(command=program(tmp_path, source), persistent=True)
    (error,) = ask(provider, tmp_path)
    assert isinstance(error, ProviderError)
    assert (
        "wrote a line before it had read the question" in error.message
        or "more than its one line" in error.message
    )


def test_noise_between_questions_is_an_error(tmp_path):
    provider = warm(tmp_path, "reply(text); time.sleep(0.1); print('done', flush=True)")

    async def body() -> list[object]:
        session = open_session(provider, tmp_path)
        first = await answer(session.complete(request("a")))
        await asyncio.sleep(0.6)
        second = await answer(session.complete(request("b")))
        third = await answer(session.complete(request("c")))
        await session.close()
        return outputs([first, second, third])

    first, second, third = run(body())
    assert (first, third) == ("a", "c")
    assert 'wrote more after its last answer, found "done"; a persistent program writes exactly one' in str(
        second
    )


def test_a_reported_error_leaves_the_program_running(tmp_path):
    body = """
        if text == "bad":
            print(json.dumps({"error": {"message": "no", "class": "provider_auth"}}), flush=True)
        elif text == "wrong":
            reply(text, cost_usd=-1)
        else:
            reply(text)
    """
    answers = ask(warm(tmp_path, body), tmp_path, *questions("bad", "wrong", "good"))
    assert outputs(answers) == [
        "no",
        "the reply's `cost_usd` must be a finite number of 0 or more, found -1",
        "good",
    ]
    assert isinstance(answers[0], ProviderError)
    assert answers[0].error_class is ErrorClass.PROVIDER_AUTH
    assert len(pids(tmp_path)) == 1


def test_stderr_of_a_persistent_program_is_shown_with_its_errors(tmp_path):
    (error,) = ask(
        warm(tmp_path, "print('hint', file=sys.stderr, flush=True); print('?', flush=True)"), tmp_path
    )
    assert isinstance(error, ProviderError)
    assert error.details["stderr"] == "hint\n"


def test_a_program_for_single_calls_gets_a_hint_when_it_waits_for_the_end_of_its_input(tmp_path):
    source = "import json, sys; asked = json.load(sys.stdin); print(json.dumps({'output': 1}))"
    provider = Exec(command=program(tmp_path, source), persistent=True, timeout_ms=700)
    (error,) = ask(provider, tmp_path)
    assert isinstance(error, ProviderError)
    assert "must answer each line of its input as it comes, and flush its output" in error.message


def test_a_program_that_closes_its_output_is_replaced(tmp_path):
    provider = warm(tmp_path, "(os.close(1), time.sleep(600)) if text == 'close' else reply(text)")
    closed, after = ask(provider, tmp_path, *questions("close", "b"))
    assert isinstance(closed, ProviderError)
    assert closed.message.endswith("closed its output before it answered")
    assert closed.retriable
    assert outputs([after]) == ["b"]


def test_a_line_beyond_the_limit_is_an_error(tmp_path):
    provider = warm(tmp_path, "reply('x' * 2000 if text == 'long' else text)")

    async def body() -> list[Response | ProviderError]:
        session = PersistentSession(
            Command(provider.command, tmp_path), 30_000, Images(tmp_path), line_limit=1000
        )
        answers = [await answer(session.complete(request(text))) for text in ("long", "b")]
        await session.close()
        return answers

    long, after = run(body())
    assert isinstance(long, ProviderError)
    assert "wrote more than 1000 bytes to stdout" in long.message
    assert outputs([after]) == ["b"]


def test_a_program_that_cannot_be_started_is_an_error_each_time(tmp_path):
    provider = Exec(command=("./missing",), persistent=True)
    answers = ask(provider, tmp_path, *questions("a", "b"))
    assert all("cannot be started" in str(text) for text in outputs(answers))


def test_closing_lets_a_program_finish_its_work(tmp_path):
    source = LOOP + "    reply(text)\ntime.sleep(0.2)\nopen('finished', 'w').close()\n"
    provider = Exec(command=program(tmp_path, source), persistent=True)
    assert outputs(ask(provider, tmp_path, *questions("a"))) == ["a"]
    assert (tmp_path / "finished").exists()


def test_closing_ends_a_program_that_ignores_the_end_of_its_input(tmp_path):
    source = LOOP + "    reply(text)\ntime.sleep(600)\n"
    provider = Exec(command=program(tmp_path, source), persistent=True)
    assert outputs(ask(provider, tmp_path, *questions("a"))) == ["a"]
    assert is_gone(pids(tmp_path)[0])
    assert not exists(pids(tmp_path)[0])


def test_processes_that_a_persistent_program_started_end_with_it(tmp_path):
    body = """
        import subprocess
        helper = subprocess.Popen(["sleep", "600"])
        os.write(os.open("pids", os.O_WRONLY | os.O_APPEND), b"%d\\n" % helper.pid)
        time.sleep(600)
    """
    ask(warm(tmp_path, body, timeout_ms=1500), tmp_path)
    assert all(is_gone(pid) for pid in pids(tmp_path))


def test_no_file_stays_open(tmp_path):
    provider = warm(tmp_path, "os._exit(1) if text == 'die' else reply(text)")

    def open_files() -> int:
        return len(os.listdir("/dev/fd"))

    ask(provider, tmp_path, *questions("a"))
    before = open_files()
    ask(provider, tmp_path, *questions("a", "die", "b", "die", "c"))
    assert open_files() == before
