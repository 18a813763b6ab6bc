"""The workers' end of the channel."""

from __future__ import annotations

import fcntl
import os
import resource
import socket

from evenhand.scripts.channel import Channel


def test_channel_works_in_a_process_with_thousands_of_open_files() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2_048:
        resource.setrlimit(resource.RLIMIT_NOFILE, (2_048, hard))
    ours, theirs = socket.socketpair()
    with ours, theirs:
        number = fcntl.fcntl(theirs, fcntl.F_DUPFD, 1_500)
        try:
            channel = Channel(number)
            assert channel.is_idle()
            ours.sendall(b"x")
            assert not channel.is_idle()
        finally:
            os.close(number)
