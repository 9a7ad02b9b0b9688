"""`GET /agent/status/{user_id}` and `DELETE /agent/session/{user_id}`: the six states, and the end of a session."""

import sqlite3
from contextlib import closing
from typing import Any

from tests.support.people import People
from tests.support.puppet import calls, fails, gate, says, script
from tests.support.server import ServerProcess
from tests.support.sessions import SessionsClient, of
from tests.support.waiting import wait_for
from tests.support.wire import at_once, opened, until
from tests.support.witness import Witness


def test_a_user_without_a_session_is_not_found(user: SessionsClient) -> None:
    assert user.status() == {
        "user_id": user.user_id,
        "session_id": None,
        "status": "not_found",
        "message": None,
        "last_query": None,
        "last_updated": None,
        "last_response": None,
    }


def test_a_completed_session_shows_its_last_query_and_response(user: SessionsClient) -> None:
    user.invoke(says("one"))
    response = user.invoke(says("two"))
    status = user.status()
    assert (status["user_id"], status["session_id"], status["status"]) == (user.user_id, user.session_id, "completed")
    assert (status["message"], status["last_query"]) == (None, script(says("two")))
    assert status["last_response"] == response
    assert isinstance(status["last_updated"], float)


def test_an_interrupted_session_shows_what_it_waits_for(user: SessionsClient, fresh: str) -> None:
    response = user.invoke(calls(("guarded", {"name": fresh})))
    status = user.status()
    assert (status["status"], status["last_response"]) == ("interrupted", response)
    user.resume("reject")
    assert user.status()["last_query"] == script(calls(("guarded", {"name": fresh})))


def test_a_failed_session_says_why(user: SessionsClient) -> None:
    response = user.invoke(fails("no luck"))
    status = user.status()
    assert (status["status"], status["message"]) == ("error", response["message"])
    assert status["last_response"] == response


def test_a_running_session_shows_the_query_and_no_response_yet(
    user: SessionsClient, witness: Witness, fresh: str
) -> None:
    before = user.invoke(says("before"))

    def do(index: int) -> Any:
        if index == 0:
            return user.again().invoke(says(gate(fresh), "after"))
        status = wait_for(user.status, lambda seen: seen["status"] == "running")
        witness.release(fresh)
        return status

    response, status = at_once(2, do)
    assert status["session_id"] == before["session_id"]
    assert (status["last_query"], status["last_response"]) == (script(says(gate(fresh), "after")), None)
    assert user.status()["last_response"] == response


def test_a_session_whose_run_was_stopped_is_idle_and_goes_on(
    server: ServerProcess, people: People, witness: Witness, fresh: str
) -> None:
    person = people.named("idler")
    user = of(person)
    user.invoke(calls(("guarded", {"name": f"{fresh}-1"})), calls(("hold", {"name": fresh})))
    # Who answers on the threads face and leaves stops the run.
    with opened(person, f"/api/resume/{user.session_id}", {"action": "continue"}) as frames:
        until(frames, "tool/end")
    wait_for(lambda: stop_of(server, user.session_id), bool)
    witness.release(fresh)
    status = user.wait_for("idle")
    assert status["last_response"]["message"] == "处理请求时出错: 运行已停止"
    assert user.invoke(says("on we go"))["result"]["output"] == "on we go"
    user.close()


def stop_of(server: ServerProcess, session_id: str) -> str | None:
    """Why the last run of a session was asked to stop; None if it was not."""
    with closing(sqlite3.connect(f"file:{server.data / 'interlock.db'}?mode=ro", uri=True)) as database:
        query = "SELECT stop_reason FROM runs WHERE thread_id = ? ORDER BY number DESC LIMIT 1"
        return database.execute(query, (session_id,)).fetchone()[0]


def test_a_deleted_session_is_gone_and_the_next_one_is_new(user: SessionsClient, witness: Witness, fresh: str) -> None:
    user.invoke(calls(("guarded", {"name": fresh})))
    deleted = user.delete()
    assert deleted.status_code == 200
    assert deleted.json() == {"status": "success", "message": f"用户 {user.user_id} 的会话已删除"}
    assert user.status()["status"] == "not_found"
    before = user.session_id
    assert user.try_resume("accept").status_code == 404
    response = user.invoke(says("new"))
    assert response["session_id"] != before
    assert [one["type"] for one in response["result"]["messages"]] == ["system", "human", "ai"]
    assert user.try_resume("accept", session_id=before).json()["detail"] == "会话ID不匹配，可能是过期的请求"
    assert witness.count(fresh) == 0


def test_a_session_that_is_not_there_cannot_be_deleted(user: SessionsClient) -> None:
    for _ in range(2):
        refused = user.delete()
        assert (refused.status_code, refused.json()["detail"]) == (404, f"用户会话 {user.user_id} 不存在")


def test_deleting_stops_the_run_and_tells_who_waits(user: SessionsClient, witness: Witness, fresh: str) -> None:
    def do(index: int) -> Any:
        if index == 0:
            return user.again().invoke(calls(("hold", {"name": fresh})), calls(("note", {"name": f"{fresh}-later"})))
        wait_for(lambda: witness.count(f"at:{fresh}"), lambda count: count == 1)
        deleted = user.delete()
        witness.release(fresh)
        return deleted

    response, deleted = at_once(2, do)
    assert deleted.status_code == 200
    assert (response["status"], response["message"]) == ("error", "处理请求时出错: 会话已删除")
    assert user.status()["status"] == "not_found"
    assert user.invoke(says("hi"))["status"] == "completed"
    assert witness.count(f"{fresh}-later") == 0


def test_of_several_deletions_at_once_one_deletes(user: SessionsClient) -> None:
    user.invoke(says("hi"))
    others = [user.again() for _ in range(6)]
    codes = [reply.status_code for reply in at_once(6, lambda index: others[index].delete())]
    assert sorted(codes) == [200] + [404] * 5
