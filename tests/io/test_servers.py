"""Servers that a run starts and ends."""

import asyncio
import logging
import os
import socket
import sys
from pathlib import Path

import pytest

from evenhand.errors import ServerError
from evenhand.io.servers import serving
from evenhand.model.suite import Server
from support.programs import is_gone

LISTENING = """
import os, socket, sys, time
open("pid", "w").write(str(os.getpid()))
time.sleep(float(os.environ.get("DELAY", "0")))
listener = socket.create_server(("127.0.0.1", int(sys.argv[1])))
while True:
    listener.accept()[0].close()
"""


@pytest.fixture
def port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as free:
        return free.getsockname()[1]


def server(port: int, source: str = LISTENING, **options) -> Server:
    command = (sys.executable, "-c", source, str(port))
    return Server(command=command, url=f"http://127.0.0.1:{port}/any/path", **options)


def connects(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=5).close()
    except OSError:
        return False
    return True


def serve(folder: Path, *servers: Server, inside=lambda: None):
    async def run():
        async with serving(servers, folder):
            return inside()

    return asyncio.run(run())


def test_a_server_takes_connections_while_the_run_lasts_and_is_gone_afterwards(tmp_path, port) -> None:
    waiting = server(port, env={"DELAY": "0.2"})
    assert serve(tmp_path, waiting, inside=lambda: connects(port))
    assert not connects(port)
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_nothing_is_started_for_a_suite_without_servers(tmp_path) -> None:
    assert serve(tmp_path, inside=lambda: "ran") == "ran"


def test_an_older_server_at_the_same_address_is_not_tested_in_its_place(tmp_path, port) -> None:
    with (
        socket.create_server(("127.0.0.1", port)),
        pytest.raises(
            ServerError, match=f"something listens at http://127.0.0.1:{port}/any/path already; stop it"
        ),
    ):
        serve(tmp_path, server(port))
    assert not (tmp_path / "pid").exists()


def test_a_server_that_ends_early_is_told_with_its_code_and_its_last_words(tmp_path, port) -> None:
    broken = server(port, "import sys; sys.exit('no database\\x1b[2J')")
    with pytest.raises(
        ServerError, match=r"exited with code 1 before it listened .* it wrote: no database\\u001b"
    ):
        serve(tmp_path, broken)


def test_a_server_that_never_listens_is_given_up_on_and_ended(tmp_path, port) -> None:
    mute = server(
        port, "import os, time; open('pid', 'w').write(str(os.getpid())); time.sleep(60)", timeout_ms=900
    )
    with pytest.raises(ServerError, match=r"nothing listens at .* after 900 ms; raise `timeout_ms`"):
        serve(tmp_path, mute)
    assert is_gone(int((tmp_path / "pid").read_text()))


def test_a_program_that_is_not_there_is_told_like_any_other(tmp_path, port) -> None:
    absent = Server(command=("no-such-program",), url=f"http://127.0.0.1:{port}")
    with pytest.raises(ServerError, match=r"server `no-such-program`: .* cannot be started"):
        serve(tmp_path, absent)


def test_all_servers_are_ended_where_one_of_them_fails(tmp_path, port) -> None:
    absent = Server(command=("no-such-program",), url="http://127.0.0.1:1")
    with pytest.raises(ServerError):
        serve(tmp_path, server(port), absent)
    assert not connects(port)


def test_a_server_that_dies_during_the_run_is_told_at_its_end(tmp_path, port, caplog) -> None:
    def kill() -> None:
        os.kill(int((tmp_path / "pid").read_text()), 9)

    async def run() -> None:
        async with serving([server(port)], tmp_path):
            kill()
            await asyncio.sleep(0.3)

    with caplog.at_level(logging.WARNING, logger="evenhand"):
        asyncio.run(run())
    assert "was ended by signal SIGKILL while the run went on" in caplog.text
