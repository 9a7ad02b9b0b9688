"""People whose names are not made of Latin letters."""

from urllib.parse import quote, unquote

from tests.support.people import People
from tests.support.puppet import says, script


def test_a_person_with_a_chinese_name_talks_like_everybody_else(people: People) -> None:
    person = people.named("张三")
    thread_id = person.new_thread()
    assert thread_id.startswith("张三-")
    reply = person.chat(thread_id, script(says("你好")))
    assert (reply.status, reply.events[-1], reply.text) == (200, "end", "你好")
    assert unquote(reply.headers["x-thread-id"]) == thread_id
    assert reply.headers["x-thread-id"] == quote(thread_id)
    assert reply.frames[-1].data["thread_id"] == thread_id
    assert person.status(thread_id)["status"] == "idle"
