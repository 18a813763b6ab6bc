from __future__ import annotations

import asyncio
import os
import signal
import sys
import time
from pathlib import Path

import pytest

from evenhand.io.process import STDERR_LIMIT, Child, Command, ProcessFailed, exit_text, run_process
from support.programs import exists, is_gone, program, run, written_pids

MB = 1024 * 1024


def command(folder: Path, source: str, **env: str) -> Command:
    return Command(program(folder, source), folder, {**os.environ, **env})


def failure(*arguments: object, **options: object) -> ProcessFailed:
    with pytest.raises(ProcessFailed) as caught:
        run(run_process(*arguments, **options))
    return caught.value


def test_a_program_gets_its_input_and_its_output_comes_back(tmp_path):
    finished = run(run_process(command(tmp_path, "import sys; print(sys.stdin.read().upper())"), b"abc"))
    assert finished == (0, b"ABC\n", "")


def test_a_program_runs_in_its_folder_with_the_environment_it_is_given(tmp_path):
    source = "import os; print(os.getcwd(), os.environ.get('MARK'), os.environ.get('HOME'))"
    argv = program(tmp_path, source)
    finished = run(run_process(Command(argv, tmp_path, {"MARK": "x"})))
    assert finished.stdout.decode().split() == [str(tmp_path), "x", "None"]


def test_arguments_reach_the_program_without_a_shell(tmp_path):
    argv = (*program(tmp_path, "import sys; print(sys.argv[1:])"), "$HOME; ls *", "")
    assert run(run_process(Command(argv, tmp_path))).stdout.decode() == "['$HOME; ls *', '']\n"


def test_standard_input_is_a_pipe_that_can_be_opened_by_name(tmp_path):
    source = "print(open('/dev/stdin').read())"
    assert run(run_process(command(tmp_path, source), b"abc")).stdout == b"abc\n"


def test_large_input_and_output_flow_at_the_same_time(tmp_path):
    source = "import sys\nfor line in sys.stdin.buffer: sys.stdout.buffer.write(line)"
    line = b"x" * 1023 + b"\n"
    finished = run(run_process(command(tmp_path, source), line * 3 * 1024))
    assert finished.stdout == line * 3 * 1024


def test_ten_megabytes_of_output_arrive_whole(tmp_path):
    source = f"import sys; sys.stdout.write('é' * {5 * MB})"
    finished = run(run_process(command(tmp_path, source, PYTHONIOENCODING="utf-8"))).stdout
    assert len(finished) == 10 * MB


@pytest.mark.parametrize("size", [0, 10, 3 * MB])
def test_a_program_that_ignores_its_input_is_no_error(tmp_path, size):
    assert run(run_process(command(tmp_path, "print('done')"), b"x" * size)).stdout == b"done\n"


def test_a_program_that_closes_its_input_at_once_is_no_error(tmp_path):
    source = "import os, time; os.close(0); time.sleep(0.05); print('done')"
    assert run(run_process(command(tmp_path, source), b"x" * 3 * MB)).stdout == b"done\n"


def test_exit_codes_and_signals_are_told_apart(tmp_path):
    assert run(run_process(command(tmp_path, "raise SystemExit(7)"))).exit_code == 7
    killed = "import os, signal; os.kill(os.getpid(), signal.SIGKILL)"
    assert run(run_process(command(tmp_path, killed))).exit_code == -signal.SIGKILL


@pytest.mark.parametrize(
    ("code", "text"),
    [
        (0, "exited with code 0"),
        (3, "exited with code 3"),
        (-11, "was ended by signal SIGSEGV"),
        (-63, "was ended by signal 63"),
    ],
)
def test_an_exit_code_is_put_into_words(code, text):
    assert exit_text(code) == text


def test_output_beyond_the_limit_ends_the_program(tmp_path):
    source = "import os\nprint(os.getpid(), file=open('pid', 'w'))\nwhile True: print('x' * 1000)"
    failed = failure(command(tmp_path, source), stdout_limit=2 * MB)
    assert failed.message.endswith("wrote more than 2 MiB to stdout")
    assert not failed.retriable
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_output_of_exactly_the_limit_is_taken(tmp_path):
    source = "import sys; sys.stdout.write('x' * 5000)"
    assert len(run(run_process(command(tmp_path, source), stdout_limit=5000)).stdout) == 5000
    assert "more than 4999 bytes" in failure(command(tmp_path, source), stdout_limit=4999).message


def test_only_the_end_of_stderr_is_kept(tmp_path):
    source = "import sys; sys.stderr.write('a' * 3_000_000 + 'é-end')"
    stderr = run(run_process(command(tmp_path, source, PYTHONIOENCODING="utf-8"))).stderr
    assert stderr.endswith("aé-end")
    assert len(stderr.encode()) == STDERR_LIMIT


def test_stderr_that_is_not_text_is_kept_readable(tmp_path):
    source = r"import sys; sys.stderr.buffer.write(b'bad \xff\xfe byte')"
    assert run(run_process(command(tmp_path, source))).stderr == "bad \ufffd\ufffd byte"


def test_a_program_that_hangs_is_killed_when_its_time_is_up(tmp_path):
    source = """
        import os, sys, time
        print(os.getpid(), file=open('pid', 'w'))
        sys.stderr.write('waiting'); sys.stderr.flush()
        time.sleep(600)
    """
    failed = failure(command(tmp_path, source), timeout_ms=700)
    assert failed.message.endswith("did not end within 700 ms and was killed")
    assert failed.retriable
    assert failed.stderr == "waiting"
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_program_that_ignores_the_request_to_end_is_killed(tmp_path):
    source = """
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), file=open('pid', 'w'))
        time.sleep(600)
    """
    failure(command(tmp_path, source), timeout_ms=500)
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_program_may_tidy_up_when_it_is_asked_to_end(tmp_path):
    source = """
        import os, signal, sys, time
        def leave(*_):
            open('tidied', 'w').close()
            sys.exit(0)
        signal.signal(signal.SIGTERM, leave)
        print(os.getpid(), file=open('pids', 'w'), flush=True)
        time.sleep(600)
    """

    async def cancelled() -> None:
        call = asyncio.create_task(run_process(command(tmp_path, source)))
        await written_pids(tmp_path / "pids")
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    run(cancelled())
    assert (tmp_path / "tidied").exists()


def test_processes_that_a_program_started_end_with_it(tmp_path):
    shell = Command(("sh", "-c", "sleep 600 & echo $! > pids; echo $$ >> pids; sleep 600"), tmp_path)
    failure(shell, timeout_ms=700)
    assert all(is_gone(int(pid)) for pid in (tmp_path / "pids").read_text().split())


def test_a_background_process_that_holds_the_output_cannot_hang_the_call(tmp_path):
    shell = Command(("sh", "-c", "sleep 600 & echo $! > pid; echo done"), tmp_path)
    assert run(run_process(shell, timeout_ms=30_000)).stdout == b"done\n"
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_background_process_that_lets_go_of_the_pipes_may_stay(tmp_path):
    shell = Command(("sh", "-c", "sleep 600 >/dev/null 2>&1 & echo $! > pid; echo done"), tmp_path)
    assert run(run_process(shell)).stdout == b"done\n"
    pid = int((tmp_path / "pid").read_text())
    assert exists(pid)
    os.kill(pid, signal.SIGKILL)


def test_a_program_that_closes_its_output_and_lives_on_is_killed_in_the_end(tmp_path):
    source = """
        import os, time
        os.write(1, b'answer'); os.close(1); os.close(2)
        time.sleep(600)
    """
    failed = failure(command(tmp_path, source), timeout_ms=500)
    assert "it had closed its output but went on running" in failed.message


def test_output_that_drips_is_collected(tmp_path):
    source = """
        import sys, time
        for part in 'abcde':
            sys.stdout.write(part); sys.stdout.flush(); time.sleep(0.02)
    """
    assert run(run_process(command(tmp_path, source), timeout_ms=30_000)).stdout == b"abcde"


def test_cancelling_a_call_ends_the_program_and_its_children(tmp_path):
    shell = Command(("sh", "-c", "sleep 600 & echo $! >> pids; echo $$ >> pids; sleep 600"), tmp_path)

    async def cancelled() -> list[int]:
        call = asyncio.create_task(run_process(shell))
        pids = await written_pids(tmp_path / "pids", 2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return pids

    assert all(is_gone(pid) for pid in run(cancelled()))


@pytest.mark.parametrize("passes", range(12))
def test_cancelling_a_start_half_way_leaves_no_process(tmp_path, passes):
    shell = Command(("sh", "-c", "sleep 600 & echo $! >> pids; echo $$ >> pids; sleep 600"), tmp_path)

    async def cancelled() -> None:
        call = asyncio.create_task(run_process(shell))
        for _ in range(passes):
            await asyncio.sleep(0)
        # The loop does not get to run while the program does.
        time.sleep(0.05)  # noqa: ASYNC251
        call.cancel()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call

    run(cancelled())
    started = tmp_path / "pids"
    assert all(is_gone(int(pid)) for pid in (started.read_text().split() if started.exists() else ()))


def test_cancelling_twice_does_not_wait_for_a_stubborn_program(tmp_path):
    source = """
        import os, signal, time
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        print(os.getpid(), file=open('pids', 'w'), flush=True)
        time.sleep(600)
    """

    async def cancelled() -> list[int]:
        call = asyncio.create_task(run_process(command(tmp_path, source)))
        pids = await written_pids(tmp_path / "pids")
        call.cancel()
        await asyncio.sleep(0.05)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        return pids

    assert all(is_gone(pid) for pid in run(cancelled()))


def test_an_outer_time_limit_ends_the_program(tmp_path):
    source = "import os, time; print(os.getpid(), file=open('pids', 'w'), flush=True); time.sleep(600)"

    async def limited() -> None:
        async with asyncio.timeout(0.7):
            await run_process(command(tmp_path, source))

    with pytest.raises(TimeoutError):
        run(limited())
    assert is_gone(int((tmp_path / "pids").read_text()))


def test_thirty_two_programs_run_at_once(tmp_path):
    echo = command(tmp_path, "import sys; print(sys.stdin.read())")

    async def many() -> list[bytes]:
        calls = (run_process(echo, str(number).encode()) for number in range(32))
        return [finished.stdout for finished in await asyncio.gather(*calls)]

    assert run(many()) == [f"{number}\n".encode() for number in range(32)]


def test_no_file_stays_open_after_calls_of_every_kind(tmp_path):
    good = command(tmp_path, "print('x')")
    bad = Command(("sh", "-c", "sleep 600"), tmp_path)

    async def calls() -> tuple[int, int]:
        await run_process(good)
        before = len(os.listdir("/dev/fd"))
        for _ in range(5):
            await run_process(good, b"x" * MB)
            with pytest.raises(ProcessFailed):
                await run_process(bad, b"x" * MB, timeout_ms=30)
            with pytest.raises(ProcessFailed):
                await run_process(Command(("./missing",), tmp_path))
        await asyncio.sleep(0.1)
        return before, len(os.listdir("/dev/fd"))

    before, after = run(calls())
    assert after == before


@pytest.mark.parametrize(
    ("argv", "mode", "content", "expected"),
    [
        (("./missing",), None, "", "No such file or directory; check that the program"),
        (("no-such-program-anywhere",), None, "", "No such file or directory; check that the program"),
        (("./file",), 0o644, "#!/bin/sh\n", "Permission denied; make the file executable"),
        (("./file",), 0o755, "no first line\n", "Exec format error; give the file a first line"),
        (("./file",), 0o755, "#!/no/such/interpreter\n", "No such file or directory; check that the program"),
        (("./file/x",), 0o644, "", "Not a directory; a part of the program's path"),
        (("a\0b",), None, "", "cannot be started: embedded null byte"),
    ],
)
def test_a_program_that_cannot_start_says_why_and_what_to_do(tmp_path, argv, mode, content, expected):
    if mode is not None:
        (tmp_path / "file").write_text(content)
        (tmp_path / "file").chmod(mode)
    failed = failure(Command(argv, tmp_path))
    assert expected in failed.message
    assert not failed.retriable


def test_a_missing_folder_is_named(tmp_path):
    failed = failure(Command((sys.executable, "-c", ""), tmp_path / "gone"))
    assert failed.message.endswith("gone is not a folder")


def test_a_shortage_of_file_handles_is_worth_another_attempt(tmp_path):
    source = """
        import asyncio, resource, sys
        from pathlib import Path
        from evenhand.io.process import Command, ProcessFailed, run_process
        async def main():
            loop_is_open = asyncio.get_running_loop()
            resource.setrlimit(resource.RLIMIT_NOFILE, (9, 9))
            try:
                await run_process(Command((sys.executable, "-c", ""), Path()))
            except ProcessFailed as failed:
                print(failed.message, failed.retriable)
        asyncio.run(main())
    """
    argv = (sys.executable, program(tmp_path, source)[-1])
    paths = os.pathsep.join(path for path in sys.path if path)
    finished = run(run_process(Command(argv, tmp_path, {**os.environ, "PYTHONPATH": paths})))
    assert "Too many open files True" in finished.stdout.decode(), finished.stderr


def test_lines_are_read_one_at_a_time(tmp_path):
    source = "import sys\nfor line in sys.stdin: print(line.strip() * 2, flush=True)"

    async def lines() -> tuple[bytes | None, ...]:
        child = await Child.start(command(tmp_path, source))
        try:
            child.send(b"a\nb\n")
            first, second = await child.read_line(), await child.read_line()
            child.close_input()
            return first, second, await child.read_line()
        finally:
            await child.stop()
            await child.stop()

    assert run(lines()) == (b"aa", b"bb", None)


def test_input_after_the_end_of_a_program_is_dropped(tmp_path):
    async def late() -> int | None:
        child = await Child.start(command(tmp_path, "raise SystemExit(4)"))
        try:
            assert await child.ended(within_s=20)
            child.send(b"x" * MB)
            child.send(b"y")
            await asyncio.sleep(0.01)
            child.send(b"z")
            return child.exit_code
        finally:
            await child.stop()

    assert run(late()) == 4
