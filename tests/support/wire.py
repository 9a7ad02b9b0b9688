"""Streams as they are on the wire: for tests of what a frame looks like, and of who leaves in the middle of one."""

import threading
import time
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any

import httpx

from tests.support.http import client as http_client
from tests.support.threads import Frame, Reply, ThreadsClient, parse

STREAM_SECONDS = 30.0


@contextmanager
def opened(client: ThreadsClient, path: str, body: dict[str, Any], **headers: str) -> Generator[Iterator[Frame]]:
    """The stream of a POST, read as far as the test likes; leaving the block closes the connection.

    The connection is its own, so that closing it is what a closed browser tab is.
    """
    with own_connection(client) as http, http.stream("POST", path, json=body, headers=headers) as response:
        response.raise_for_status()
        yield parse(bounded(response.iter_lines()))


@contextmanager
def following(client: ThreadsClient, thread_id: str, last: str | None = None) -> Generator[Iterator[Frame]]:
    headers = {} if last is None else {"last-event-id": last}
    with (
        own_connection(client) as http,
        http.stream("GET", f"/api/stream/{thread_id}", headers=headers) as response,
    ):
        response.raise_for_status()
        yield parse(bounded(response.iter_lines()))


def bounded(lines: Iterator[str]) -> Iterator[str]:
    """A stream whose signs of life would keep a test waiting for ever fails it instead."""
    deadline = time.monotonic() + STREAM_SECONDS
    for line in lines:
        assert time.monotonic() < deadline, f"the stream is still open after {STREAM_SECONDS} s"
        yield line


def own_connection(client: ThreadsClient) -> httpx.Client:
    return http_client(client.http.base_url, headers=client.http.headers, timeout=20.0)


def raw_lines(client: ThreadsClient, path: str, body: dict[str, Any], **headers: str) -> list[str]:
    """Every line of a POST's stream, as it was sent."""
    with client.http.stream("POST", path, json=body, headers=headers) as response:
        response.raise_for_status()
        return response.read().decode().split("\n")


def until(frames: Iterator[Frame], event: str) -> list[Frame]:
    """The frames up to the first of that name, which is the last one."""
    seen: list[Frame] = []
    for frame in frames:
        seen.append(frame)
        if frame.event == event:
            return seen
    raise AssertionError(f"the stream ended without {event}: {[frame.event for frame in seen]}")


def at_once(count: int, act: Callable[[int], Any], seconds: float = 60.0) -> list[Any]:
    """Let `act` run `count` times side by side, all starting together; what each gave or raised, in order."""
    ready = threading.Barrier(count)
    results: list[Any] = [None] * count

    def run(index: int) -> None:
        ready.wait(seconds)
        try:
            results[index] = act(index)
        except Exception as error:
            results[index] = error

    threads = [threading.Thread(target=run, args=(index,), daemon=True) for index in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(seconds)
        assert not thread.is_alive(), f"still going after {seconds} s"
    return results


@contextmanager
def beside(act: Callable[[], object], seconds: float = 30.0) -> Generator[None]:
    """Act beside the block; leaving it waits for the act, whose connection nobody may close under it."""
    failures: list[Exception] = []

    def run() -> None:
        try:
            act()
        except Exception as error:
            failures.append(error)

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    yield
    thread.join(seconds)
    assert not thread.is_alive(), f"still going after {seconds} s"
    assert failures == []


def post(client: ThreadsClient, path: str, body: dict[str, Any], headers: dict[str, str] | None = None) -> Reply:
    """A POST with headers of its own, its stream read to the end."""
    with client.http.stream("POST", path, json=body, headers=headers) as response:
        if response.headers.get("content-type", "").startswith("text/event-stream"):
            return Reply(response.status_code, list(parse(response.iter_lines())), headers=response.headers)
        response.read()
        return Reply(response.status_code, body=response.json(), headers=response.headers)
