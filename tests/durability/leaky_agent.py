"""An agent that asks for variables and fails with them in its mouth; loaded by servers only."""

import base64
import hashlib
import json
import logging
from typing import Any

from langchain.agents import create_agent  # pyright: ignore[reportUnknownVariableType]
from langchain_core.tools import ToolException, tool
from langgraph.config import get_stream_writer

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


for _one in (fail_softly, fail_in_quotes, fail_in_part, fail_by_line, fail_encoded, fail_with_both):
    _one.handle_tool_error = True

_tools = (fail_softly, fail_in_quotes, fail_in_part, fail_by_line, fail_encoded, fail_with_both, fail_hard, log_all)

agent: Any = create_agent(
    PuppetModel(),
    [use_key, *_tools, *ask_tools],
    middleware=[InterlockMiddleware({})],
)
