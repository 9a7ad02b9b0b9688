"""What agents write is shown and not obeyed: no control, no hidden letter and no markup reaches the terminal."""

import json
import unicodedata
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from interlock_client.cli.terminal.editing import NotJson, changes, read, read_any
from interlock_client.cli.terminal.open_request import Kind, OpenRequest
from interlock_client.cli.terminal.revealing import json_text, lines, plain
from interlock_client.cli.terminal.sections import sections
from interlock_client.cli.terminal.wording import heading, remember_choices
from tests.cli.terminal.driving import Asker, inbox
from tests.support.server import ServerProcess

pytestmark = pytest.mark.promise("P17")

NASTY = [
    "\x1b[2J\x1b[H",
    "\x1b]0;title\x07",
    "\x9b31m",
    "\u202etxt.exe",
    "a\u200bb\u200d\ufeff",
    "\U000e0041\U000e0042",
    "\r\b\b\b\x7f",
    "[bold red]x[/] [@click=app.quit]q[/] $primary",
    "\u2028\u2029\x85",
    " " * 300 + "rm -rf /",
    "\n" * 60 + "hidden below",
    "‎\u2066\u2069",
    "\ud800",
    "\t\v\f",
]
texts: st.SearchStrategy[str] = st.text(max_size=60) | st.sampled_from(NASTY)
texts = texts | st.tuples(texts, st.sampled_from(NASTY)).map("".join)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | st.integers() | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


def is_safe(text: str) -> bool:
    return all(one == "\n" or unicodedata.category(one)[0] not in "C" for one in text) and not (
        set(text) & set("\u2028\u2029")
    )


def waiting(kind: Kind, data: dict[str, Any], agent: str = "worker") -> OpenRequest:
    return OpenRequest("perm_1", kind, agent, "thread", datetime.now(UTC), None, data)


def approval(tool: str, args: dict[str, Any], said: str = "") -> dict[str, Any]:
    return {
        "tool_name": tool,
        "tool_display_name": said,
        "action": said,
        "args": args,
        "risk_level": "high",
        "description": said,
        "allow_remember": True,
        "allowed": ["accept", "edit", "reject", "response"],
    }


@settings(max_examples=250, deadline=None)
@given(tool=texts, args=st.dictionaries(texts, values, max_size=4), said=texts)
def test_nothing_of_an_approval_is_hidden_or_obeyed(tool: str, args: dict[str, Any], said: str) -> None:
    one = waiting("approval", approval(tool, args, said))
    shown = [plain(line) for section in sections(one) for line in section.lines]
    shown += [heading(one), *(choice.sentence for choice in remember_choices(one, allow=True))]
    assert all(is_safe(line) and "\n" not in line for line in shown)


@settings(max_examples=250, deadline=None)
@given(args=st.dictionaries(texts, values, max_size=4))
def test_arguments_to_edit_show_everything_and_read_back_the_same(args: dict[str, Any]) -> None:
    text = json_text(args)
    assert is_safe(text)
    assert read(text) == args == json.loads(text)
    assert all(is_safe(plain(line)) for line in changes({}, args))


@settings(max_examples=250, deadline=None)
@given(text=texts)
def test_padding_cannot_push_anything_out_of_sight(text: str) -> None:
    shown = [plain(line) for line in lines(text)]
    assert all(is_safe(line) and " " * 21 not in line for line in shown)
    blank = [not line for line in shown]
    assert not any(all(blank[start : start + 4]) for start in range(len(blank) - 3))


@settings(max_examples=8, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(nasty=st.lists(texts, min_size=5, max_size=5))
async def test_the_screens_of_every_kind_stay_safe(nasty: list[str]) -> None:
    a, b, c, d, e = nasty
    asked: list[OpenRequest] = [
        waiting("approval", approval(a, {b: c, "n": [d]}, e), a),
        waiting("clarification", {"question": a, "options": [b, c], "allow_custom": True, "default_answer": d}, e),
        waiting(
            "decision",
            {
                "title": a,
                "description": b,
                "options": [{"key": c, "label": d, "style": e}, {"key": "k", "label": c, "style": "danger"}],
                "risks": [e],
            },
        ),
        waiting("env_var", {"fields": [{"name": a, "label": b, "description": c}], "allow_save": True}, d),
        waiting("questions", {"questions": [{"question": a, "options": [{"label": b, "value": c}]}, {"question": d}]}),
    ]
    async with inbox("http://127.0.0.1:9") as driver:
        for number, one in enumerate(asked):
            driver.app.waiting = [one]
            driver.app.open_request(one.id)
            await driver.sees("Esc back")
            assert is_safe(driver.text), number
            await driver.pilot.press("escape")
            await driver.sees("Enter open")
            assert is_safe(driver.text), number


async def test_a_hostile_request_of_a_real_agent_is_shown_escaped(
    server: ServerProcess, key: str, asker: Asker
) -> None:
    asker.approval(
        "tool\x1b[31m",
        args={"path": "/tmp/\u202ecod.exe"},
        description="\x1b[2J[bold]safe[/bold]\u200b",
        risk_level="high",
    )
    async with inbox(server.url, key) as driver:
        await driver.open("\\x1b[31m")
        shown = await driver.sees('"/tmp/\\u202ecod.exe"')
        assert "tool\\x1b[31m wants to run" in shown
        assert "\\x1b[2J[bold]safe[/bold]\\u200b" in shown
        assert is_safe(shown)


@pytest.mark.parametrize(
    ("typed", "told"),
    [
        ("1e999", "1e999 is larger"),
        ('{"a": [-1E+400]}', "larger"),
        ("9" * 5_000, "too many digits"),
        ("[" * 61 + "]" * 61, "nested too deeply"),
        ("[" * 100_000 + "]" * 100_000, "nested too deeply"),
        ('{"a":' * 200 + "1" + "}" * 200, "nested too deeply"),
        ("Infinity", "no JSON"),
    ],
    ids=lambda text: text[:12],
)
def test_json_that_cannot_be_sent_as_it_is_typed_is_no_answer(typed: str, told: str) -> None:
    with pytest.raises(NotJson, match=told):
        read_any(typed)


@pytest.mark.parametrize(
    "value", [2**70, -(2**63), 1e308, [[[0.1]]], {"a": {"b": None}}, json.loads("[" * 60 + "]" * 60)]
)
def test_json_that_can_be_sent_is_read_as_it_is(value: object) -> None:
    assert read_any(json.dumps(value)) == value
