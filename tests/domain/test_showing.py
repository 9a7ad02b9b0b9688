"""What is shown of a request, the code behind it, and who may see it."""

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from interlock.domain.api_key import is_key, new_key
from interlock.domain.canonical import action_digest
from interlock.domain.grant import GrantDuration, GrantScope, Remember
from interlock.domain.ids import is_own_new_thread_id, new_thread_id
from interlock.domain.kinds import ApprovalBody, ClarificationBody, EnvVarAnswer, EnvVarBody
from interlock.domain.preview import FilePreview
from interlock.domain.principal import Principal, Role, review_key
from interlock.domain.request import Answer, AnswerOrigin, Ending, Request, RequestEnd, RequestStatus
from interlock.domain.showing import changed_lines, code_of, headline, is_batchable, needs_code, render, shown_digest
from interlock.domain.terms import Routing, Terms
from interlock.domain.thread import TITLE_LENGTH, title_of
from tests.conformance.examples import AT, a_request, a_thread


def asking(body: Any, **changes: Any) -> Request:
    return replace(a_request(), **{"body": body, "digest": None, **changes})


@given(st.text(), st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=3))
def test_all_of_a_command_and_of_its_other_arguments_is_written(command: str, others: dict[str, str]) -> None:
    request = asking(ApprovalBody.ask("execute", {**others, "command": command}))
    shown = render(request)
    assert "\n".join(shown.lines) == command
    assert bool(shown.rest) == bool(set(others) - {"command"})


def test_a_code_is_of_the_request_and_of_what_is_shown() -> None:
    request = asking(ApprovalBody.ask("pay", {"amount": 1}), digest=action_digest("pay", {"amount": 1}))
    others = [replace(request, id=f"perm_{number}") for number in range(20)]
    assert len({code_of(one) for one in others}) > 10
    assert all(len(code_of(one)) == 4 and code_of(one).isdigit() for one in others)
    assert code_of(request) == code_of(replace(request, status=RequestStatus.ANSWERED))
    assert shown_digest(request) != shown_digest(replace(request, digest=action_digest("pay", {"amount": 2})))


def test_a_wide_promise_needs_a_code_whatever_the_risk() -> None:
    request = asking(ApprovalBody.ask("read_file", {}, risk_level="low"))
    tool = Remember(GrantDuration.FOREVER, GrantScope.THIS_TOOL)
    everything = Remember(GrantDuration.FOREVER, GrantScope.ALL_TOOLS)
    assert not needs_code(request, {"decision": "accept"}, tool)
    assert needs_code(request, {"decision": "accept"}, everything)
    assert needs_code(request, {"decision": "accept"}, replace(tool, also_high_risk=True))
    assert not needs_code(asking(ClarificationBody.ask("?")), {"answer": "x"}, everything)


def test_what_is_put_to_people_by_name_is_answered_on_its_own() -> None:
    request = asking(ApprovalBody.ask("read_file", {}, risk_level="low"))
    assert is_batchable(request)
    assert not is_batchable(replace(request, routing=Routing(Terms())))


@given(st.text())
def test_a_headline_and_a_title_are_one_short_line(text: str) -> None:
    line = headline(asking(ClarificationBody(question=text)))
    assert len(line) <= 200
    assert len(title_of(text)) <= TITLE_LENGTH
    assert "\n" not in line + title_of(text)


@given(st.lists(st.sampled_from("abc"), max_size=8), st.lists(st.sampled_from("abc"), max_size=8))
def test_lines_added_and_removed_lead_from_one_text_to_the_other(before: list[str], after: list[str]) -> None:
    texts = ["".join(f"{line}\n" for line in lines) for lines in (before, after)]
    change = changed_lines(FilePreview("a", exists=True, text=texts[0], after=texts[1], sha256="", modified_at=None))
    assert change is not None
    added, removed = change
    assert len(before) - removed + added == len(after)
    assert (change == (0, 0)) == (before == after)


PEOPLE = [Principal("u-1", "ann", Role.OWNER), Principal("u-2", "bob", Role.OWNER), Principal("u-3", "eve", Role.ADMIN)]


@pytest.mark.parametrize("asker", [None, "key_1"])
def test_a_reviewer_of_a_hosted_agent_does_not_see_one_of_that_name_elsewhere(asker: str | None) -> None:
    thread = replace(a_thread(), owner_id="u-1", agent="mail", asker_id=asker)
    hosted = Principal("u-4", "rae", Role.REVIEWER, ("mail",))
    elsewhere = Principal("u-4", "rae", Role.REVIEWER, (review_key("u-1", "mail", "key_1"),))
    assert [one.may_see(thread) for one in PEOPLE] == [True, False, True]
    assert (hosted.may_see(thread), elsewhere.may_see(thread)) == (asker is None, asker is not None)
    assert not hosted.may_drive(thread)
    agent = Principal("key_1", "mailer", Role.AGENT, on_behalf_of=PEOPLE[0])
    assert agent.may_see(thread) == (asker is not None)
    assert not agent.may_answer(thread)
    assert agent.person_id == "u-1"


def test_whoever_comes_second_learns_who_won_and_no_secret() -> None:
    value = EnvVarAnswer({}, handles={"API_KEY": "handle-1"})
    request = asking(EnvVarBody.ask(["API_KEY"]), status=RequestStatus.ANSWERED, ending=Ending("ann", "web"))
    answer = Answer(request.id, value, "u-1", "ann", "web", AnswerOrigin.PERSON, AT)
    told = RequestEnd.of(request, answer).to_json()
    assert (told["answered_by"], told["source"], told["current_status"]) == ("ann", "web", "answered")
    assert "handle-1" not in str(told)


def test_a_deadline_is_nobody() -> None:
    request = asking(ClarificationBody.ask("?"), status=RequestStatus.EXPIRED, ending=Ending("system", "deadline"))
    end = RequestEnd.of(request, None)
    assert (end.by, end.source, end.answer) == (None, "deadline", None)


@given(st.integers(0, 69), st.sampled_from("0123456789abcdef"))
def test_a_key_with_one_wrong_digit_is_no_key(place: int, digit: str) -> None:
    key = new_key()
    changed = key[:place] + digit + key[place + 1 :]
    assert is_key(changed) == (changed == key)


def test_only_ones_own_name_and_a_uuid_make_a_new_thread() -> None:
    own = new_thread_id("ann")
    assert is_own_new_thread_id(own, "ann")
    assert not is_own_new_thread_id(own, "an")
    assert not is_own_new_thread_id(own.upper(), "ann")
    assert not is_own_new_thread_id(own.replace("-", ""), "ann")
    assert not is_own_new_thread_id("ann-", "ann")
