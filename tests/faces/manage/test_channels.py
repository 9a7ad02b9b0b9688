"""Channels on a real server, with a real mail server, a push service and a stand-in for Slack: set up, linked, told of
a request and of its end, and what comes back."""

import time
from collections.abc import Generator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.support import puppet
from tests.support.command import command
from tests.support.mail_server import MailServer, text_of
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.push_service import PushService
from tests.support.server import ServerProcess
from tests.support.slack_server import APP, APP_TOKEN, BOT_TOKEN, SIGNING_SECRET, TEAM, SlackServer, signed
from tests.support.threads import ThreadsClient
from tests.support.waiting import wait_for
from tests.support.witness import Witness

PATH, OWN, WANTED = "/api/v1/channels", "/api/v1/me/addresses", "/api/v1/me/notifications"
PUBLIC = "https://interlock.example"
ALLOWED = {"public_url": PUBLIC, "channel_hosts": "127.0.0.1", "locale": "en"}
ENVIRONMENT = {f"INTERLOCK_{name.upper()}": value for name, value in ALLOWED.items()}
SECRET = "arguments-stay-here"


@pytest.fixture(scope="module")
def mail() -> Generator[MailServer]:
    with MailServer() as listening:
        yield listening


@pytest.fixture(scope="module")
def push(tmp_path_factory: pytest.TempPathFactory) -> Generator[PushService]:
    with PushService(tmp_path_factory.mktemp("push")) as listening:
        yield listening


def a_server(folder: Path, witness: Witness, **more: str) -> ServerProcess:
    environment = {**witness.environment, **ENVIRONMENT, **more}
    return ServerProcess(folder, agents=[puppet.SPEC], environment=environment)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory, witness: Witness, push: PushService) -> Generator[ServerProcess]:
    process = a_server(tmp_path_factory.mktemp("channels"), witness, **push.environment)
    try:
        yield process.start()
    finally:
        process.close()


@pytest.fixture(scope="module")
def crew(server: ServerProcess) -> Generator[People]:
    with People(server.url) as people:
        yield people


def settings(mail: MailServer) -> dict[str, Any]:
    return {"host": "127.0.0.1", "port": mail.port, "security": "none", "sender": "interlock@x.example"}


def a_channel(admin: httpx.Client, mail: MailServer, **more: Any) -> str:
    given = {"kind": "mail", "name": "Mail", "settings": {**settings(mail), **more}}
    return admin.post(PATH, json=given).raise_for_status().json()["id"]


def link(person: httpx.Client, mail: MailServer, channel_id: str, address: str) -> str:
    before = len(mail.mails)
    begun = person.post(OWN, json={"channel_id": channel_id, "address": address}).raise_for_status().json()
    assert (begun["channel_id"], begun["address"]) == (channel_id, address)
    code = mail.wait_for(before + 1)[before]["Subject"].rpartition(" ")[2]
    linked = person.post(f"{OWN}/confirm", json={"channel_id": channel_id, "code": code}).raise_for_status().json()
    return linked["id"]


def pending(person: ThreadsClient, thread_id: str) -> list[str]:
    found = person.http.get(f"/api/v1/agent/hitl/conversations/{thread_id}/pending").raise_for_status()
    return [one["request_id"] for one in found.json()["data"]["pending_requests"]]


def asked(person: ThreadsClient, name: str = SECRET) -> tuple[str, str]:
    thread_id = person.new_thread()
    person.chat(thread_id, script(calls(("guarded", {"name": name}))))
    (request_id,) = pending(person, thread_id)
    return thread_id, request_id


@pytest.mark.promise("P28", "P29")
def test_a_person_is_mailed_what_waits_and_how_it_ended_and_a_link_decides_nothing(
    server: ServerProcess, crew: People, mail: MailServer
) -> None:
    root, ann = crew.named("root"), crew.named("ann")
    channel_id = a_channel(root.http, mail, domains=["x.example"])
    refused = ann.http.post(OWN, json={"channel_id": channel_id, "address": "ann@elsewhere.example"})
    assert (refused.status_code, refused.json()["errors"][0]["code"]) == (400, "domain")
    address_id = link(ann.http, mail, channel_id, "ann@x.example")
    (own,) = ann.http.get(OWN).json()["channels"]
    assert (own["channel_id"], own["address"]["id"], own["address"]["works"]) == (channel_id, address_id, True)
    assert crew.named("bob").http.delete(f"{OWN}/{address_id}").status_code == 404
    assert crew.named("bob").http.get(OWN).json()["channels"][0]["address"] is None

    before = len(mail.mails)
    thread_id, request_id = asked(ann)
    told = mail.wait_for(before + 1)[before]
    assert told["To"] == "ann@x.example"
    url = f"{PUBLIC}/requests/{request_id}"
    assert all(url in text_of(told, subtype) for subtype in ("plain", "html"))
    page, accept = url.replace(PUBLIC, server.url), {"accept": "text/html"}
    for method in ("GET", "HEAD", "OPTIONS"):
        httpx.request(method, page, headers=accept)
        ann.http.request(method, page, headers=accept)
    assert pending(ann, thread_id) == [request_id]

    assert ann.resume(thread_id, "cancel", request_id=request_id).events[-1] == "end"
    ended = mail.wait_for(before + 2)[before + 1]
    assert (ended["Subject"], ended["References"]) == ("Refused", told["References"])
    assert SECRET not in told.as_string() + ended.as_string() + server.log.read_text()
    assert "ann@x.example" not in server.log.read_text()

    quiet = {"start": "22:00", "end": "07:00", "zone": "UTC"}
    wanted: dict[str, Any] = {"off": [channel_id], "quiet": quiet, "language": "zh", "answer_links": True, "digest": 30}
    kept = ann.http.put(WANTED, json=wanted).raise_for_status().json()
    assert ann.http.put(WANTED, json={"digest": 4}).status_code == 422
    assert kept == {**wanted, "quiet": {**quiet, "high_passes": True}} == ann.http.get(WANTED).json()
    asked(ann)
    nothing: dict[str, Any] = {"off": [], "quiet": None, "language": None, "answer_links": False, "digest": None}
    assert ann.http.put(WANTED, json={}).json() == nothing
    _, last = asked(ann)
    assert last in text_of(mail.wait_for(before + 3)[before + 2])
    assert root.http.get(PATH).json()["channels"][0]["failed"] == 0
    assert root.http.get(f"{PATH}/{channel_id}/failed").json() == {"notices": []}
    assert ann.http.delete(f"{OWN}/{address_id}").status_code == 200
    assert root.http.delete(f"{PATH}/{channel_id}").json() == {"id": channel_id, "removed": True}
    assert [root.http.delete(f"{PATH}/{channel_id}").status_code, root.http.get(PATH).json()] == [404, {"channels": []}]
    actions = {one["action"] for one in root.http.get("/api/v1/audit").json()["entries"]}
    assert {"channel.created", "channel.removed", "address.linked", "address.unlinked"} <= actions


@pytest.mark.promise("P27", "P28", "P29")
def test_a_person_is_told_at_their_browsers_and_a_notice_offers_a_page_only(
    server: ServerProcess, crew: People, push: PushService
) -> None:
    root, ann = crew.named("root").http, crew.named("ann").http
    kinds = {one["kind"]: one for one in root.get(f"{PATH}/kinds").raise_for_status().json()["kinds"]}
    assert {name: (one["linked_by"], one["answers"]) for name, one in kinds.items()} == {
        "mail": ("code", False),
        "web-push": ("browser", False),
        "slack": ("message", True),
        "feishu": ("message", True),
    }
    assert kinds["mail"]["fields"][0]["options"] == ["127.0.0.1"]
    made = root.post(PATH, json={"kind": "web-push", "settings": {}}).raise_for_status().json()
    assert root.post(PATH, json={"kind": "web-push", "settings": {}}).status_code == 409
    (own,) = ann.get(OWN).json()["channels"]
    assert (own["linked_by"], own["key"], own["addresses"]) == ("browser", made["settings"]["key"], [])
    laptop, phone = push.browser(), push.browser()

    def turn_on(person: httpx.Client, **changes: Any) -> httpx.Response:
        return person.post(f"{OWN}/browser", json={"channel_id": made["id"], **laptop.subscription, **changes})

    elsewhere = turn_on(ann, endpoint="https://169.254.169.254/latest")
    assert (elsewhere.status_code, elsewhere.json()["errors"][0]["code"]) == (400, "host")
    assert root.post(OWN, json={"channel_id": made["id"], "address": "a@x.example"}).status_code == 400
    first, second = (turn_on(ann, **one.subscription).raise_for_status().json() for one in (laptop, phone))
    assert (first["address"], first["works"]) == ("localhost", True)
    assert crew.named("bob").http.post(f"{OWN}/{first['id']}/test").status_code == 404
    assert ann.post(f"{OWN}/{first['id']}/test").json() == {"id": first["id"], "sent": True}
    assert "works" in push.waits(laptop, lambda seen: len(seen) == 1)[0]["title"]

    thread_id, request_id = asked(crew.named("ann"))
    ((told,), (_, told_there)) = (
        push.waits(one, lambda seen, count=count: len(seen) == count) for one, count in ((phone, 1), (laptop, 2))
    )
    assert (told == told_there, told["tag"], told["url"]) == (True, request_id, f"{PUBLIC}/requests/{request_id}")
    assert set(told) == {"title", "body", "tag", "end", "url"}
    assert "guarded" in told["body"]
    push.answers[phone.endpoint.removeprefix(push.origin)] = 410
    assert crew.named("ann").resume(thread_id, "cancel", request_id=request_id).events[-1] == "end"
    *_, ended = push.waits(laptop, lambda seen: len(seen) == 3)
    assert (ended["title"], ended["tag"], ended["end"]) == ("Refused", request_id, True)

    def works() -> list[bool]:
        return [one["works"] for one in ann.get(OWN).json()["channels"][0]["addresses"]]

    wait_for(works, lambda seen: seen == [True, False])
    listed, log = ann.get(OWN).text + root.get(PATH).text, server.log.read_text()
    for secret in (laptop.endpoint, laptop.subscription["keys"]["auth"], "PRIVATE", SECRET):
        assert secret not in listed + log + str([told, ended])
    assert root.delete(f"{PATH}/{made['id']}").status_code == 200
    assert ann.post(f"{OWN}/{second['id']}/test").status_code == 404


def test_a_channel_is_set_up_tried_and_removed_by_commands(tmp_path: Path, mail: MailServer) -> None:
    pairs = [part for name, value in settings(mail).items() for part in ("--set", f"{name}={value}")]

    def run(*arguments: str, **variables: str) -> tuple[int, str]:
        done = command("channels", *arguments, "--data", str(tmp_path), variables=variables)
        return done.returncode, done.stdout.strip()

    assert command("migrate", "--data", str(tmp_path)).returncode == 0
    assert run("add", "mail", *pairs)[0] == 2
    assert run("add", "mail", *pairs, channel_hosts="127.0.0.1")[0] == 2
    code, channel_id = run("add", "mail", *pairs, "--name", "Team", **ALLOWED)
    assert code == 0
    assert run("list")[1].split("\t") == [channel_id, "mail", "Team", "headline", "low", "0", "0"]
    before = len(mail.mails)
    assert run("test", channel_id, "ann@x.example", **ALLOWED)[0] == 0
    assert mail.mails[before]["To"] == "ann@x.example"
    assert run("remove", channel_id)[0] == 0
    assert (run("list"), run("remove", channel_id)[0]) == ((0, ""), 2)
    assert run("add", "web-push", public_url=PUBLIC, push_hosts="browsers")[0] == 0
    assert run("list")[1].split("\t")[1:3] == ["web-push", "web-push"]


@pytest.mark.promise("P27")
def test_a_mail_of_a_server_that_died_before_it_was_recorded_is_followed_by_the_end(
    tmp_path: Path, witness: Witness
) -> None:
    mail, server = MailServer().start(), a_server(tmp_path / "data", witness)
    try:
        server.start()
        server.port = int(server.url.rpartition(":")[2])
        with People(server.url) as people:
            root, ann = people.named("root"), people.named("ann")
            link(ann.http, mail, a_channel(root.http, mail), "ann@x.example")
            thread_id = ann.new_thread()
            server.stop()
            server.start(failpoints="notice.sent=kill")
            with suppress(httpx.HTTPError):
                ann.chat(thread_id, script(calls(("guarded", {"name": SECRET}))))
            server.wait_until_dead()
            server.start()
            (request_id,) = pending(ann, thread_id)
            ann.resume(thread_id, "cancel", request_id=request_id)
            told = wait_for(lambda: list(mail.mails), lambda seen: seen[-1]["Subject"] == "Refused", 120)
        assert {one["References"] for one in told[1:]} == {f"<{request_id}@interlock.example>"}
        assert [one["Subject"] == "Refused" for one in told[1:]] == [False, True]
    finally:
        server.close()
        mail.stop()


def a_slack(admin: httpx.Client, slack: SlackServer, mode: str, **credentials: str) -> str:
    given = {"kind": "slack", "shows": "full", "settings": {"team": TEAM, "app": APP, "mode": mode, "api": slack.api}}
    made = admin.post(PATH, json={**given, "credentials": {"bot_token": BOT_TOKEN, **credentials}})
    assert not [one for one in credentials.values() if one in made.text]
    return made.raise_for_status().json()["id"]


@pytest.mark.promise("P28", "P29", "P30")
def test_a_tap_that_its_vendor_signed_counts_and_whatever_else_is_sent_there_does_not(
    server: ServerProcess, crew: People
) -> None:
    root, ann = crew.named("root"), crew.named("ann")
    with SlackServer() as slack:
        channel_id = a_slack(root.http, slack, "http", signing_secret=SIGNING_SECRET)
        callback = f"{server.url}/channels/{channel_id}/callback"

        def call(payload: dict[str, Any], **changes: str) -> httpx.Response:
            headers, body = signed(payload, time.time())
            return httpx.post(callback, headers={**headers, **changes}, content=body)

        begun = ann.http.post(OWN, json={"channel_id": channel_id}).raise_for_status().json()
        assert call(slack.direct_message("UANN", begun["code"])).status_code == 200
        wait_for(lambda: [one.words for one in slack.shown], lambda seen: any("Linked" in one for one in seen))
        (own,) = [one for one in ann.http.get(OWN).json()["channels"] if one["channel_id"] == channel_id]
        assert own["address"]["address"] == f"{TEAM}:UANN"

        thread_id, request_id = asked(ann)
        (shown,) = wait_for(lambda: slack.of("UANN"), lambda seen: len(seen) == 1)
        tap = slack.tap("UANN", shown, "Refuse")
        assert call(tap, **{"x-slack-signature": f"v0={'0' * 64}"}).status_code == 401
        assert ann.http.post(callback, json=tap).status_code == 401
        assert [httpx.get(callback).status_code, httpx.head(callback).status_code] == [405, 405]
        assert httpx.post(callback.replace(channel_id, "chan_none"), content=b"{}").status_code == 401
        # Signed, and of nobody who is linked, of another app, or nothing that Slack would send.
        stranger = slack.tap("UEVE", shown, "Refuse")
        assert call(stranger).status_code == 200
        wait_for(lambda: list(slack.told), lambda seen: ["Link your account" in one for one in seen] == [True])
        slack.told.clear()
        for changes in ({"api_app_id": "A0ELSE"}, {"actions": "x"}, {"actions": [1]}):
            assert call({**stranger, **changes}).status_code == 200
        assert pending(ann, thread_id) == [request_id]
        done = call(tap)
        assert (done.status_code, done.content) == (200, b"")
        assert pending(ann, thread_id) == []
        wait_for(lambda: shown.words, lambda seen: "Refused" in seen and "ann" in seen)
        call(tap)
        assert (slack.wrong, slack.told) == ([], [])
        settled = ann.http.get(f"/api/v1/inbox/requests/{request_id}").raise_for_status().text
        assert '"slack"' in settled
        for secret in (tap["actions"][0]["value"], "hush", BOT_TOKEN, SIGNING_SECRET, SECRET, begun["code"], "UANN"):
            assert secret not in server.log.read_text()
        assert root.http.delete(f"{PATH}/{channel_id}").status_code == 200
        assert call(tap).status_code == 401


@pytest.mark.promise("P30", "P31")
def test_a_tap_that_was_counted_by_a_server_that_died_before_it_said_so_counts_once(
    tmp_path: Path, witness: Witness
) -> None:
    server = a_server(tmp_path / "data", witness)
    try:
        server.start()
        server.port = int(server.url.rpartition(":")[2])
        with SlackServer() as slack, People(server.url) as people:
            root, ann = people.named("root"), people.named("ann")
            channel_id = a_slack(root.http, slack, "socket", app_token=APP_TOKEN)
            code = ann.http.post(OWN, json={"channel_id": channel_id}).raise_for_status().json()["code"]
            slack.wait_for_sockets(1)
            linking = slack.push(slack.direct_message("UANN", code))
            wait_for(lambda: linking in slack.acknowledged, bool)
            thread_id = ann.new_thread()
            server.stop()
            wait_for(lambda: len(slack.sockets), lambda count: count == 0)
            server.start(failpoints="answer.committed=kill")
            slack.wait_for_sockets(1)
            ann.chat(thread_id, script(calls(("guarded", {"name": SECRET}))))
            (shown,) = wait_for(lambda: slack.of("UANN"), lambda seen: len(seen) == 1)
            tap = slack.tap("UANN", shown, "Refuse")
            envelope_id = slack.push(tap)
            server.wait_until_dead()
            wait_for(lambda: len(slack.sockets), lambda count: count == 0)
            assert envelope_id not in slack.acknowledged
            server.start()
            slack.wait_for_sockets(1)
            slack.push(tap, envelope_id)
            wait_for(lambda: envelope_id in slack.acknowledged, bool)
            wait_for(lambda: shown.words, lambda seen: "Refused" in seen)
            # By the first of the two: of the second nothing is said, not even that it came too late.
            assert (pending(ann, thread_id), slack.told, slack.wrong) == ([], [], [])
    finally:
        server.close()
