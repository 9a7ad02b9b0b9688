"""An agent that asks for variables and fails with them in its mouth; loaded by servers only."""

import asyncio
import base64
import gc
import hashlib
import json
import logging
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Annotated, Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.messages import ToolMessage
from langchain_core.tools import InjectedToolCallId, ToolException, tool
from langgraph.config import get_stream_writer
from langgraph.types import Command

import interlock
from interlock import ask
from interlock.langchain import InterlockMiddleware, ask_tools
from tests.support.puppet_agent import PuppetModel
from tests.support.witness import say


@tool
def use_key(name: str) -> str:
    """Use the key, as a tool does that was handed it."""
    say(f"did key:{hashlib.sha256(ask.secret(name).encode()).hexdigest()}")
    return f"used {name}"


@tool
def fail_softly(name: str) -> str:
    """Fail in a way that the model is told of."""
    raise ToolException(f"the service did not take {ask.secret(name)}")


@tool
def fail_in_quotes(name: str) -> str:
    """Fail with the value as Python spells it."""
    raise ToolException(f"no such key: {ask.secret(name)!r}")


@tool
def fail_hard(name: str) -> str:
    """Fail in a way that ends the run."""
    raise RuntimeError(f"connection to https://user:{ask.secret(name)}@host refused")


@tool
def fail_in_part(name: str) -> str:
    """Fail as libraries do that show a part of the value."""
    value = ask.secret(name)
    raise ToolException(f"wrong key {value[:6]}...{value[-4:]}; {value[:12]}; {value[5:19]}; ends in ****{value[-6:]}")


@tool
def fail_by_line(name: str) -> str:
    """Fail with each line by itself."""
    raise ToolException("\n".join(f"line {n}: {line}" for n, line in enumerate(ask.secret(name).splitlines())))


@tool
def fail_encoded(name: str) -> str:
    """Fail with the value as it goes over the wire."""
    value = ask.secret(name)
    basic = base64.b64encode(f"user:{value}".encode()).decode()
    raise ToolException(f"refused: Authorization: Basic {basic} {json.dumps(json.dumps({'key': value}))}")


@tool
def fail_with_both(name: str) -> str:
    """Fail with a value, and with one that begins with it."""
    raise ToolException(f"neither {ask.secret(name)} nor {ask.secret('LONGER')} was taken")


@tool
def log_all(name: str) -> str:
    """Say it to everybody who listens, as a library does at debug level, and come to a good end."""
    value, logger = ask.secret(name), logging.getLogger("some.library")
    logger.debug("GET https://host/?key=%s", value)
    try:
        raise ValueError(f"bad header {value}")
    except ValueError:
        logger.exception("could not send")
    get_stream_writer()({"progress": [f"sent {value}"]})
    return "logged and told"


_pool = ThreadPoolExecutor(1)
"""Of all runs: its thread was started in the first one that used it."""
_detached: list[threading.Thread] = []
_may_speak = threading.Event()


def _log(where: str, value: str) -> None:
    logger = logging.getLogger("some.library")
    logger.warning("%s: whole %s, in part %s and %s...", where, value, value[3:17], value[:6])
    logger.warning(f"{where}: header", extra={"error": f"Authorization: {value}"})
    try:
        raise ValueError(f"bad header {value}")
    except ValueError:
        logger.exception("%s: could not send", where)


@tool
def log_in_threads(name: str) -> str:
    """Say it in threads, which know nothing of the run that they work for."""
    value = ask.secret(name)
    threads = [threading.Thread(target=_log, args=("a thread", value)), threading.Thread(target=int, args=(value,))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with ThreadPoolExecutor(2) as own:
        own.submit(_log, "a pool", value).result()
    _pool.submit(_log, "everybody's pool", value).result()
    return "logged in threads"


@tool
def log_later(name: str) -> str:
    """Leave a thread behind, which says it when the run has long ended."""

    def speak(value: str) -> None:
        _may_speak.wait()
        _log("a thread left behind", value)

    _detached.append(threading.Thread(target=speak, args=(ask.secret(name),), daemon=True))
    _detached[-1].start()
    return "left behind"


@tool
def let_speak(name: str) -> str:
    """Hear what the threads say that were left behind."""
    _may_speak.set()
    for thread in _detached:
        thread.join()
    return f"heard them, without {name}"


class _Mute(Exception):
    """Python shows what `str` does not."""

    def __str__(self) -> str:
        return "no"


@tool
def fail_mutely(name: str) -> str:
    """Fail with the value where only Python shows it."""
    raise _Mute(ask.secret(name))


@tool
def fail_to_encode(name: str) -> str:
    """Fail as a client does that puts a key with an accent into a header."""
    return str((ask.secret(name) + "é").encode("ascii"))


@tool
async def fail_in_a_group(name: str) -> str:
    """Fail in one of several tasks."""
    value = ask.secret(name)

    async def fail() -> None:
        raise ValueError(f"bad key {value}")

    async with asyncio.TaskGroup() as group:
        group.create_task(fail())
    return "never"


@tool
def fail_in_an_effect(name: str) -> str:
    """Fail within an effect."""

    def fail() -> None:
        raise _Mute(ask.secret(name))

    interlock.effect("login", fail)
    return "never"


@tool
def keep_in_an_effect(name: str) -> str:
    """Give an effect a result with the value in it."""
    value = ask.secret(name)
    header = interlock.effect("login", lambda: {"authorization": f"Bearer {value}", "raw": (value.encode(), {value})})
    say(f"did header:{hashlib.sha256(header['authorization'].removeprefix('Bearer ').encode()).hexdigest()}")
    return "kept in an effect"


@tool(response_format="content_and_artifact")
def keep_beside_the_result(name: str) -> tuple[str, Any]:
    """Put the value beside what the model is told."""
    value = ask.secret(name)
    return "kept beside", {"raw": value.encode(), "pairs": [("key", value)], "set": {value}, "object": _Client(value)}


@tool
def keep_in_a_message(name: str, tool_call_id: Annotated[str, InjectedToolCallId]) -> Any:
    """Put the value into what a message has beside its text, and into the state."""
    value = ask.secret(name)
    more: Any = {"additional_kwargs": {"raw": value}, "response_metadata": {"headers": [value]}}
    return Command(update={"messages": [ToolMessage("kept in a message", tool_call_id=tool_call_id, **more)]})


@dataclass
class _Client:
    key: str

    def __del__(self) -> None:
        raise ValueError(f"not closed: {self.key}")


_clients: dict[str, str] = {}


@tool
async def log_past_the_log(name: str) -> str:
    """Say it where Python itself tells of it, on standard error."""
    value, loop = ask.secret(name), asyncio.get_running_loop()

    async def fail() -> None:
        raise ValueError(f"nobody reads {value}")

    def fail_late() -> None:
        called.set()
        raise ValueError(f"called late with {value}")

    called, task = asyncio.Event(), asyncio.create_task(fail())
    loop.call_later(0, fail_late)
    await called.wait()
    await asyncio.wait([task])
    await loop.run_in_executor(None, _log, "an executor", value)
    warnings.warn(f"do not use {value}", stacklevel=1)
    _Client(value)
    del task
    gc.collect()
    return "logged past the log"


@tool
def connect(name: str) -> str:
    """Make a client that later turns use."""
    _clients["one"] = ask.secret(name)
    return "connected"


@tool
def use_client(name: str) -> str:
    """Fail with what was given in an earlier turn."""
    value = _clients["one"]
    logging.getLogger("some.library").warning("%s: retry with %s", name, value)
    get_stream_writer()({"progress": (value, f"sent {value}")})
    if name == "hard":
        raise _Mute(f"401 for {value}")
    raise ToolException(f"401 for key {value}")


for _one in (use_client, fail_softly, fail_in_quotes, fail_in_part, fail_by_line, fail_encoded, fail_with_both):
    _one.handle_tool_error = True

_tools = (fail_softly, fail_in_quotes, fail_in_part, fail_by_line, fail_encoded, fail_with_both, fail_hard, log_all)
_threaded = (log_in_threads, log_later, let_speak, log_past_the_log)
_failing = (fail_mutely, fail_to_encode, fail_in_a_group, fail_in_an_effect)
_keeping = (keep_in_an_effect, keep_beside_the_result, keep_in_a_message, connect, use_client)

agent: Any = create_agent(
    PuppetModel(),
    [use_key, *_tools, *_threaded, *_failing, *_keeping, *ask_tools],
    middleware=[InterlockMiddleware({})],
)
