"""`python -m bench.followers ADDRESS THREAD COUNT`: so many streams on one thread, in a process of their own.

The token comes as the first line. It prints how many it could open in good time; then, for each word that it reads,
when the last of the streams was sent something with that word in it.
"""

import asyncio
import sys
import time

AT_ONCE = 50
OPEN_SECONDS = 150.0
SECONDS = 300.0


class Streams:
    def __init__(self, address: str, thread: str, token: str) -> None:
        self._host, _, self._port = address.removeprefix("http://").partition(":")
        head = f"GET /api/stream/{thread} HTTP/1.1\r\nHost: {self._host}\r\nAuthorization: {token}\r\n\r\n"
        self._head = head.encode()
        self._readers: list[asyncio.StreamReader] = []
        self._writers: list[asyncio.StreamWriter] = []
        self._places = asyncio.Semaphore(AT_ONCE)

    async def open(self, count: int) -> int:
        until = time.monotonic() + OPEN_SECONDS
        await asyncio.gather(*(self._open(until) for _ in range(count)))
        return len(self._readers)

    async def _open(self, until: float) -> None:
        async with self._places:
            if time.monotonic() > until:
                return
            reader, writer = await asyncio.open_connection(self._host, int(self._port))
            writer.write(self._head)
            status = await reader.readuntil(b"\r\n\r\n")
            assert b" 200 " in status.split(b"\r\n")[0], status
        self._readers.append(reader)
        self._writers.append(writer)

    async def last_to_hear(self, word: str) -> float:
        return max(await asyncio.gather(*(_heard(reader, word.encode()) for reader in self._readers)))


async def _heard(reader: asyncio.StreamReader, word: bytes) -> float:
    before = b""
    while True:
        received = await reader.read(65_536)
        assert received, "a stream has ended"
        if word in before + received:
            # One clock for all processes of the machine.
            return time.monotonic()
        before = received


async def main(address: str, thread: str, count: str) -> None:
    streams = Streams(address, thread, sys.stdin.readline().strip())
    print(await streams.open(int(count)), flush=True)
    while word := (await asyncio.to_thread(sys.stdin.readline)).strip():
        listening = asyncio.create_task(streams.last_to_hear(word))
        await asyncio.sleep(0)
        print("listening", flush=True)
        print(await asyncio.wait_for(listening, SECONDS), flush=True)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
