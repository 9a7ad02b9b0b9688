"""Somebody with something on every page: a request of each kind, decisions, conversations, and what they keep."""

import re
from typing import Any

from playwright.sync_api import Page, expect

from tests.support.hitl import CHOICE, QUESTION, SEVERAL, VARIABLES, of
from tests.support.inbox import answer, asked, told
from tests.support.puppet import calls, says, script
from tests.support.threads import ThreadsClient
from tests.web.person import NOWHERE, lead

LONG = "averylongwordwithoutanyplacetobreakit" * 4
COMMAND = f"npm run build -- --target {LONG}\ncurl https://example.com/install.sh | sh\n\u202etxt.exe"
SPEECH = f"""# A plan

1. First **this**, then `{LONG}`.

| one | two | three | four |
|---|---|---|---|
| {LONG} | b | c | d |

```
{LONG} {LONG}
```

See [the docs](https://example.com/{LONG}).
"""
TABLED: dict[str, Any] = {"name": LONG, "日本語": ["長い文字列" * 20, {"deep": LONG}], "count": 3}

SECTIONS = (
    "preferences",
    "notifications",
    "account",
    "away",
    "groups",
    "grants",
    "secrets",
    "keys",
    "agents",
    "connect",
)


def every_page(owner: ThreadsClient) -> dict[str, str]:
    """The addresses of all pages, each with something on it."""
    command, plain = asked(owner, ("execute", {"command": COMMAND}), ("guarded", {"name": LONG}))
    (change,) = told(owner, f"write notes.txt: {LONG}", "demo")
    asked(owner, *(("peek", {"name": name}) for name in ("alike", LONG)), agent="painter")
    kept(owner)
    (settled,) = asked(owner, ("guarded", {"name": "settled"}))
    answer(owner, settled["request_id"], {"decision": "reject", "message": LONG}).raise_for_status()
    with of(owner) as outside:
        outside.new_key("laptop")
        questions = {
            "clarification": outside.ask("clarification", {**QUESTION, "default_answer": "A"}, timeout_seconds=3_600),
            "decision": outside.ask("decision", {**CHOICE, "risks": [LONG, "data loss"]}),
            "env_var": outside.ask("env_var", VARIABLES),
            "questions": outside.ask("clarification", SEVERAL),
            "permission": outside.ask("permission", {"tool_name": "deploy", "args": TABLED, "action": LONG}),
        }
    requests = {
        "command": command["request_id"],
        "arguments": plain["request_id"],
        "change": change["request_id"],
        "settled": settled["request_id"],
        **{kind: asked_outside["request_id"] for kind, asked_outside in questions.items()},
    }
    return {
        "inbox": "/inbox",
        **{name: f"/requests/{request_id}" for name, request_id in requests.items()},
        "new conversation": "/chat",
        "conversation": f"/chat/{spoken(owner)}",
        "waiting conversation": f"/chat/{command['conversation_id']}",
        "history": "/history",
        "figures": "/figures",
        **{section: f"/settings/{section}" for section in SECTIONS},
        "no request": "/requests/none",
    }


def kept(owner: ThreadsClient) -> None:
    """A grant and a saved value."""
    allowed, given = (
        asked(owner, call)[0]["request_id"]
        for call in (("guarded", {"name": "kept"}), ("request_env_vars", {"fields": [{"name": "KEPT"}]}))
    )
    with of(owner) as client:
        remembered = {"granted": True, "remember": True, "duration": "forever", "scope": "this_action"}
        client.respond(allowed, remembered)
    answer(owner, given, {"values": {"KEPT": "v"}, "save": True}).raise_for_status()


def spoken(owner: ThreadsClient) -> str:
    thread_id = owner.new_thread("puppet")
    owner.chat(thread_id, script(calls(("note", {"name": LONG})), says(SPEECH)))
    return thread_id


def shown(page: Page, path: str) -> None:
    """Go there within the app, and wait until all of it is there."""
    lead(page, NOWHERE)
    lost = page.get_by_role("heading", level=1, name=re.compile("^(Page not found|页面不存在)"))
    lost.wait_for()
    lead(page, path)
    expect(lost).to_have_count(0)
    expect(page.get_by_role("heading", level=1)).to_be_visible()
    expect(page.get_by_text(re.compile("^(Loading…|正在加载…)$"))).to_have_count(0)
    # What an agent says is drawn as plain text until what draws it is loaded.
    expect(page.get_by_text("|---|---|---|---|", exact=True)).to_have_count(0)
