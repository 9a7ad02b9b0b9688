"""What a notice may show and offer, cell by cell of what decides it."""

import sys
from dataclasses import replace
from datetime import UTC, datetime, time
from typing import Any

import pytest

from interlock.domain.channel import Abilities, Channel, Preferences, QuietHours, Shows, hashed, new_token
from interlock.domain.errors import InvalidInput
from interlock.domain.kinds import ApprovalBody, Body, ClarificationBody, DecisionBody, EnvVarBody
from interlock.domain.notice_rules import Act, Offer, may_be_approved, offers, shown_text
from interlock.domain.request import Request, RequestStatus
from interlock.domain.terms import Routing, Step, Terms
from interlock.domain.visible import quoted, visible
from interlock_client.visible import visible as visible_to_clients

AT = datetime(2026, 11, 19, 12, tzinfo=UTC)
CHAT = Abilities(edits=True, taps=True, confirms=True, longest_text=200)
FULL = Channel("chan_1", "chat", "Chat", Shows.FULL, "low", {}, "root", AT)


def a_call(args: dict[str, Any] | None = None, risk: str = "low", **changes: Any) -> Request:
    body = replace(ApprovalBody.ask("read_file", args or {"path": "a.txt"}, risk_level=risk), **changes)
    return asked(body)


def asked(body: Body, **changes: Any) -> Request:
    return replace(Request("perm_1", "pause-1", "ann-1", RequestStatus.PENDING, 0, body, AT, agent="demo"), **changes)


def acts(request: Request, channel: Channel = FULL, abilities: Abilities = CHAT) -> list[Act]:
    return [one.act for one in offers(request, channel, abilities)]


def under(**terms: Any) -> Routing:
    return Routing(Terms(**terms))


@pytest.mark.promise("P26")
def test_what_is_harmless_and_shown_whole_may_be_approved() -> None:
    assert acts(a_call()) == [Act.OPEN, Act.APPROVE, Act.REFUSE]
    assert acts(a_call(risk="medium"), replace(FULL, ceiling="medium")) == [Act.OPEN, Act.APPROVE, Act.REFUSE]
    assert acts(replace(a_call(), routing=under())) == [Act.OPEN, Act.APPROVE, Act.REFUSE]


@pytest.mark.promise("P26")
@pytest.mark.parametrize(
    ("request_", "channel"),
    [
        (a_call(), replace(FULL, shows=Shows.HEADLINE)),
        (a_call(risk="medium"), FULL),
        *((a_call(risk=risk), replace(FULL, ceiling=risk)) for risk in ("high", "critical")),
        (a_call({"text": "x" * 200}), FULL),
        (a_call({"text": "a\u202eb"}), FULL),
        (a_call({"text": "a\u200bb"}), FULL),
        (a_call({"text": "\x1b[2J"}, action="x"), FULL),
        (a_call(details={"more": 1}), FULL),
        (a_call(preview={"file": {}}), FULL),
        (a_call(allowed=("reject",)), FULL),
        (replace(a_call(), routing=under(code=True)), FULL),
        (replace(a_call(), routing=under(steps=(Step(people=2),))), FULL),
    ],
)
def test_whatever_else_is_refused_there_or_opened(request_: Request, channel: Channel) -> None:
    assert not may_be_approved(request_, channel, CHAT)
    assert acts(request_, channel) == [Act.OPEN, Act.REFUSE]


def test_a_channel_without_buttons_leads_to_the_page() -> None:
    mail = replace(CHAT, taps=False)
    assert (
        acts(a_call(), abilities=mail) == acts(asked(ClarificationBody.ask("?", ["a"])), abilities=mail) == [Act.OPEN]
    )


def test_harmless_options_are_offered_and_nothing_else_of_a_decision() -> None:
    deploy = asked(DecisionBody.ask("Deploy?", [{"key": "yes", "style": "danger"}, {"key": "no", "label": "Not now"}]))
    assert offers(deploy, FULL, CHAT) == (Offer(Act.OPEN), Offer(Act.CHOOSE, "no", "Not now"))
    assert offers(deploy, FULL, CHAT)[1].value == {"decision": "no"}
    which = asked(ClarificationBody.ask("Which?", ["a", "b"]))
    assert [one.value for one in offers(which, FULL, CHAT)[1:]] == [{"answer": "a"}, {"answer": "b"}]


@pytest.mark.parametrize(
    "body",
    [
        ClarificationBody.ask("Which?", [str(number) for number in range(6)]),
        ClarificationBody.ask("Which?", ["x" * 41]),
        ClarificationBody.ask("Which?", ["a", "b\u200b"]),
        ClarificationBody.ask("Which?"),
        ClarificationBody.of_free({"question": "Which?", "options": ["a"]}),
        DecisionBody.ask("Which?", [{"key": "a", "label": "same"}, {"key": "b", "label": "same"}]),
        EnvVarBody.ask(["KEY"]),
    ],
)
def test_values_and_long_lists_are_for_the_page(body: Body) -> None:
    assert acts(asked(body)) == [Act.OPEN]


def test_a_text_is_shown_whole_with_what_is_hidden_written_out_or_not_at_all() -> None:
    request = a_call({"text": "a\u202eb"})
    assert "\\u202e" in (shown_text(request, FULL, CHAT) or "")
    assert shown_text(request, FULL, replace(CHAT, longest_text=10)) is None
    assert shown_text(request, replace(FULL, shows=Shows.HEADLINE), CHAT) is None


def test_what_is_hidden_is_the_same_for_the_core_and_for_clients() -> None:
    every = [chr(number) for number in range(sys.maxunicode + 1)]
    assert [one for one in every if visible(one) != visible_to_clients(one)] == []


def test_a_name_makes_no_link_and_stays_in_its_line() -> None:
    assert quoted("a\n b\u202e https://x.example www.x.example ann@x", 200) == (
        "a b\\u202e https[://]x.example [www].x.example ann[@]x"
    )
    assert quoted("x" * 9, 5) == "xxxx…"


@pytest.mark.parametrize(
    ("hour", "until"), [(21, None), (22, (20, 7)), (23, (20, 7)), (3, (19, 7)), (7, None), (12, None)]
)
def test_quiet_hours_go_over_midnight(hour: int, until: tuple[int, int] | None) -> None:
    quiet = QuietHours(time(22), time(7))
    ends = None if until is None else datetime(2026, 11, *until, tzinfo=UTC)
    assert quiet.until(datetime(2026, 11, 19, hour, tzinfo=UTC)) == ends


def test_quiet_hours_are_those_of_their_zone_and_what_is_risky_may_pass() -> None:
    wanted = Preferences(quiet=QuietHours.read("09:00", "10:30", "Asia/Shanghai", high_passes=True))
    at = datetime(2026, 11, 19, 1, 30, tzinfo=UTC)
    assert wanted.due_at("low", at) == datetime(2026, 11, 19, 2, 30, tzinfo=UTC)
    assert wanted.due_at("high", at) == at
    silent = replace(wanted, quiet=QuietHours.read("09:00", "10:30", "Asia/Shanghai", high_passes=False))
    assert silent.due_at("high", at) == datetime(2026, 11, 19, 2, 30, tzinfo=UTC)
    assert Preferences.from_json(silent.to_json()) == silent


def test_a_digest_holds_back_low_risk_to_one_moment_unless_the_deadline_is_near() -> None:
    wanted = Preferences(digest=30, quiet=QuietHours(time(22), time(7)))
    at, due_at = datetime(2026, 11, 19, 12, 10, tzinfo=UTC), datetime(2026, 11, 19, 12, 30, tzinfo=UTC)
    assert [wanted.due_at("low", one) for one in (at, at.replace(minute=0))] == [due_at, due_at]
    assert [wanted.due_at(one, at) for one in ("medium", "high", "")] == [at, at, at]
    assert wanted.due_at("low", due_at) == due_at.replace(hour=13, minute=0)
    assert wanted.due_at("low", at, due_at.replace(minute=59)) == at
    assert wanted.due_at("low", at, due_at.replace(hour=13, minute=0)) == due_at
    # Both hold it back; and so do quiet hours alone, whatever its risk.
    evening, morning = datetime(2026, 11, 19, 21, 50, tzinfo=UTC), datetime(2026, 11, 20, 7, tzinfo=UTC)
    assert wanted.due_at("low", evening) == morning == wanted.due_at("medium", evening.replace(hour=23))
    assert (wanted.gathers(morning, evening), wanted.gathers(at, at)) == (True, False)
    assert not Preferences().gathers(morning, evening)
    assert Preferences.from_json(wanted.to_json()) == wanted


@pytest.mark.parametrize("wrong", [("9", "x", "UTC"), ("09:00", "09:00", "UTC"), ("09:00", "10:00", "../UTC")])
def test_quiet_hours_that_are_none_are_refused(wrong: tuple[str, str, str]) -> None:
    with pytest.raises(InvalidInput):
        QuietHours.read(*wrong, high_passes=True)


def test_a_token_fits_into_every_button_and_is_kept_as_a_hash() -> None:
    token = new_token()
    assert len(token) == 22
    assert token not in hashed(token)
    assert new_token() != token
