"""The socket that a server listens on."""

import socket

from interlock.cli.serving import listen
from interlock.config import load


def test_the_socket_is_named_as_tcp_so_that_frames_are_sent_at_once() -> None:
    with listen(load({"port": 0}, {})) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        assert listening.getsockname()[0] == "127.0.0.1"
