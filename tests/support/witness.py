"""A process of its own that counts what tools really did, so that no crash of the server can change the count.

`python -m tests.support.witness` prints its port. A line `did NAME` counts and answers `ok`; `count NAME` answers the
number; `names PREFIX` the counted names that begin so; `block NAME` answers only when somebody sends `release NAME`.
"""

import asyncio
import os
import socket
import subprocess
import sys
from collections import Counter, defaultdict
from typing import Self

ADDRESS = "WITNESS_PORT"


async def _serve() -> None:
    done: Counter[str] = Counter()
    gates: defaultdict[str, asyncio.Event] = defaultdict(asyncio.Event)

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while line := (await reader.readline()).decode().strip():
            verb, _, name = line.partition(" ")
            reply = "ok"
            if verb == "did":
                done[name] += 1
            elif verb == "count":
                reply = str(done[name])
            elif verb == "names":
                reply = " ".join(each for each in done if each.startswith(name))
            elif verb == "block":
                await gates[name].wait()
            elif verb == "release":
                gates[name].set()
            writer.write(reply.encode() + b"\n")
            await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    sys.stdout.write(f"{server.sockets[0].getsockname()[1]}\n")
    sys.stdout.flush()
    await server.serve_forever()


def say(line: str, port: int | None = None) -> str:
    """Tell the witness, or ask it; inside a hosted tool its port comes from the environment.

    A tool may wait here for longer than a cluster needs to come back: what breaks off at its gate fails its run.
    """
    with socket.create_connection(("127.0.0.1", port or int(os.environ[ADDRESS])), timeout=600) as connection:
        connection.sendall(line.encode() + b"\n")
        return connection.makefile().readline().strip()


class Witness:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.support.witness"], stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(self._process.stdout.readline())

    def count(self, name: str) -> int:
        return int(say(f"count {name}", self.port))

    def names(self, prefix: str) -> list[str]:
        """What was done under names that begin so, each once: a name may end in the key of an idempotent effect."""
        return say(f"names {prefix}", self.port).split()

    def release(self, name: str) -> None:
        say(f"release {name}", self.port)

    @property
    def environment(self) -> dict[str, str]:
        return {ADDRESS: str(self.port)}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        assert self._process.stdout is not None
        self._process.stdout.close()


if __name__ == "__main__":
    asyncio.run(_serve())
