"""What each agent sends, what a person is asked then, and what the agent is given: recorded pairs.

Those of Claude Code, Codex and Gemini CLI are as the agents themselves sent them, those of Cursor as its documents say.
"""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.hooks.hook import Desk
from tests.support.hitl import HitlClient

PAIRS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "recorded.json").read_text())


@pytest.mark.parametrize("pair", PAIRS, ids=lambda pair: f"{pair['agent']}: {pair['name']}")
def test_an_answer_reaches_the_agent_in_its_own_words(desk: Desk, person: HitlClient, pair: dict[str, Any]) -> None:
    with desk.hook(pair["agent"], "--timeout", "120", event=pair["event"]) as hook:
        [asked] = desk.asked()
        shown = asked["request_data"]
        assert {name: shown[name] for name in pair["asked"]} == pair["asked"]
        sent = json.dumps(asked)
        assert not any(private in sent for private in ("t.jsonl", "ann@example.com"))
        person.respond(asked["request_id"], pair["response"])
        done = hook.ended()
    assert done.returncode == 0
    assert (json.loads(done.stdout) if done.stdout else None) == pair["stdout"]


LAST = {pair["agent"]: pair for pair in PAIRS}


@pytest.mark.parametrize("agent", sorted(LAST))
def test_whatever_fails_is_a_no_in_the_agents_own_words(desk: Desk, agent: str) -> None:
    event = LAST[agent]["event"]
    with desk.hook(agent, "--timeout", "12", event=event, INTERLOCK_URL="http://127.0.0.1:9") as hook:
        away = hook.ended()
    assert away.returncode == 0
    assert "deny" in away.stdout
    wrong: list[Any] = ["", {**event, "hook_event_name": "SomethingNew"}, {**event, "tool_input": [], "command": 7}]
    for given in wrong:
        with desk.hook(agent, "--timeout", "12", event=given) as hook:
            done = hook.ended()
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith("Not run: ")
