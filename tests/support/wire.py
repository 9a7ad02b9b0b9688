"""Streams as they are on the wire: for tests of what a frame looks like, and of who leaves in the middle of one."""

import json
import socket
import threading
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlsplit

import httpx

from tests.support.http import client as http_client
from tests.support.threads import Frame, Reply, ThreadsClient, bounded, parse
from tests.support.waiting import WAIT_SECONDS

MOMENTS = [milliseconds / 1000 for milliseconds in range(0, 60, 3)]
"""After which clients go that go in the middle of a call's work."""


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


def own_connection(client: ThreadsClient) -> httpx.Client:
    return http_client(client.http.base_url, headers=client.http.headers, timeout=WAIT_SECONDS)


def send_and_go(seconds: float, url: str, line: str, body: Mapping[str, Any], headers: Mapping[str, str]) -> None:
    """Send a whole request, `METHOD PATH`, and be gone so much later, whatever has come back by then."""
    where, content = urlsplit(url), json.dumps(body).encode()
    head = {"host": where.netloc, "content-type": "application/json", **headers, "content-length": str(len(content))}
    lines = [f"{line} HTTP/1.1", *(f"{name}: {value}" for name, value in head.items()), "", ""]
    with socket.create_connection((where.hostname, where.port), timeout=WAIT_SECONDS) as connection:
        connection.sendall("\r\n".join(lines).encode() + content)
        # Not waited for: it is to be in the middle of something.
        time.sleep(seconds)


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


def at_once(count: int, act: Callable[[int], Any], seconds: float = WAIT_SECONDS) -> list[Any]:
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
def beside(act: Callable[[], object], seconds: float = WAIT_SECONDS) -> Generator[None]:
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
            return Reply(response.status_code, list(parse(bounded(response.iter_lines()))), headers=response.headers)
        response.read()
        return Reply(response.status_code, body=response.json(), headers=response.headers)
