"""A grant that a reviewer gives is the owner's: both see it, and both take it back."""

import pytest

from tests.faces.hitl.granting import (
    GUARDED,
    granted_by,
    is_asked,
    remembered,
    role,
)
from tests.support.hitl import HitlClient, of
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient


@pytest.fixture
def reviewer(server: ServerProcess, people: People) -> ThreadsClient:
    person = people.named("reviewer-of-puppets")
    role(server, person, "reviewer", "--agent", "puppet")
    return person


def test_a_reviewers_grant_ends_with_the_role(
    server: ServerProcess, reviewer: ThreadsClient, owner: ThreadsClient, theirs: HitlClient
) -> None:
    here = granted_by(reviewer, owner, theirs, remembered("this_tool", "forever"))
    assert theirs.grants()[0]["granted_by"] == reviewer.username
    assert not is_asked(owner, here, GUARDED)
    role(server, reviewer, "owner")
    assert is_asked(owner, here, GUARDED)
    role(server, reviewer, "reviewer", "--agent", "demo")
    assert is_asked(owner, here, GUARDED)


def test_a_reviewers_grant_is_the_owners_and_is_listed_for_both(
    reviewer: ThreadsClient, owner: ThreadsClient, theirs: HitlClient, other: HitlClient
) -> None:
    granted_by(reviewer, owner, theirs, remembered("this_tool", "forever"))
    (listed,) = theirs.grants()
    assert (listed["owner"], listed["granted_by"]) == (owner.username, reviewer.username)
    with of(reviewer) as reviews:
        assert listed in reviews.grants()
    assert listed["id"] not in other.http.get("/api/v1/grants").text
    # It stands for the owner's conversations, and for none of the reviewer's own.
    assert not is_asked(owner, owner.new_thread("puppet"), GUARDED)
    assert is_asked(reviewer, reviewer.new_thread("puppet"), GUARDED)


@pytest.mark.parametrize("who", ["owner", "giver"])
def test_both_the_owner_and_who_gave_it_revoke_a_grant_under_their_name(
    reviewer: ThreadsClient, owner: ThreadsClient, theirs: HitlClient, other: HitlClient, admin: HitlClient, who: str
) -> None:
    here = granted_by(reviewer, owner, theirs, remembered("this_tool", "forever"))
    (grant,) = theirs.grants()
    path = f"/api/v1/grants/{grant['id']}"
    assert other.http.delete(path).status_code == 404
    ending = owner if who == "owner" else reviewer
    with of(ending) as client:
        client.http.delete(path).raise_for_status()
        assert grant["id"] not in client.http.get("/api/v1/grants").text
    assert is_asked(owner, here, GUARDED)
    ended = [one for one in admin.audit("server", "grant.revoked") if one["data"]["grant_id"] == grant["id"]]
    told = [(one["actor"], one["data"]["granted_by"], one["data"]["owner_id"]) for one in ended]
    assert told == [(ending.username, reviewer.username, grant["owner_id"])]
