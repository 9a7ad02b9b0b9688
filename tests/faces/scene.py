"""A server with everybody on it, and what there is to act on."""

import uuid
from typing import Any

import httpx

from tests.support.hitl import QUESTION, HitlClient, of
from tests.support.http import client as http_client
from tests.support.people import People
from tests.support.puppet import calls, script
from tests.support.receiver import Receiver
from tests.support.server import ServerProcess


class Scene:
    """The server with everybody on it, and what there is to act on."""

    def __init__(self, server: ServerProcess, people: People, receiver: Receiver) -> None:
        self.url = server.url
        self.admin, self.owner = of(people.named("root")), of(people.named("owner"))
        self.threads = people.named("owner")
        self.receiver = receiver
        asker, stranger = (self.owner.new_key(name, "agent") for name in ("worker", "idler"))
        self.asker = HitlClient(self.url, asker["key"])
        tokens = {
            "admin": token_of(self.admin.http),
            "owner": token_of(self.owner.http),
            **{name: token_of(people.named(name).http) for name in ("other", "reviewer", "elsewhere", "namesake")},
            "key": self.owner.new_key("of the owner")["key"],
            "asker": asker["key"],
            "stranger": stranger["key"],
        }
        self.callers = {
            name: http_client(self.url, headers={"authorization": f"Bearer {token}"}) for name, token in tokens.items()
        }
        self.callers["nobody"] = http_client(self.url)

    def hosted(self) -> str:
        """A conversation of the owner with an agent that runs here; it waits for nothing."""
        return self.threads.new_thread("puppet")

    def paused(self) -> str:
        thread_id = self.hosted()
        self.threads.chat(thread_id, script(calls(("guarded", {"name": "matrix"}))))
        return thread_id

    def asked(self, kind: str = "clarification", data: dict[str, Any] | None = None) -> dict[str, Any]:
        """Something that an agent elsewhere asks the owner."""
        return self.asker.ask(kind, data or QUESTION)

    def given(self) -> str:
        """A request whose values wait to be collected."""
        asked = self.asked("env_var", {"fields": [{"name": "KEY"}]})
        self.owner.respond(asked["request_id"], {"values": {"KEY": "v"}})
        return asked["request_id"]

    def granted(self) -> str:
        asked = self.asked("permission", {"tool_name": f"tool-{uuid.uuid4()}"})
        remembered = {"granted": True, "remember": True, "duration": "forever", "scope": "this_tool"}
        self.owner.respond(asked["request_id"], remembered)
        return self.owner.grants()[0]["id"]

    def saved(self) -> str:
        name = f"KEY_{uuid.uuid4().hex}"
        asked = self.asked("env_var", {"fields": [{"name": name}]})
        self.owner.respond(asked["request_id"], {"values": {name: "v"}, "save": True})
        return next(one["id"] for one in self.owner.saved() if one["name"] == name)

    def session(self, query: str) -> dict[str, Any]:
        """The owner's one session on the sessions face, begun anew."""
        self.owner.http.delete("/agent/session/owner")
        body = {"user_id": "owner", "query": query}
        return self.owner.http.post("/agent/invoke", json=body).raise_for_status().json()

    def key(self) -> str:
        return self.owner.new_key("to be revoked")["id"]

    def newcomer(self) -> str:
        """The id of somebody who was not there before."""
        account = {"username": f"newcomer-{uuid.uuid4()}", "password": "wonderland"}
        return self.admin.http.post("/api/auth/register", json=account).raise_for_status().json()["user_id"]

    def signed_in(self) -> str:
        """A session of the owner's that nothing else is done with."""
        account = {"username": "owner", "password": "wonderland"}
        self.admin.http.post("/api/auth/login", json=account).raise_for_status()
        listed = self.owner.http.get("/api/v1/account/sessions").raise_for_status().json()["sessions"]
        return max(listed, key=lambda one: one["signed_in_at"])["id"]

    def hook(self) -> str:
        made = self.admin.http.post("/api/v1/webhooks", json=self.new_hook())
        return made.raise_for_status().json()["id"]

    def new_hook(self) -> dict[str, Any]:
        return {"url": self.receiver.url, "agents": ["worker"]}

    def delivered(self) -> str:
        """The path of something that was sent to a webhook."""
        path = f"/api/v1/webhooks/{self.hook()}/deliveries"
        self.asked()
        (delivery,) = self.admin.http.get(path).raise_for_status().json()["deliveries"]
        return f"{path}/{delivery['id']}/replay"

    def close(self) -> None:
        for hook in self.admin.http.get("/api/v1/webhooks").json()["webhooks"]:
            self.admin.http.delete(f"/api/v1/webhooks/{hook['id']}")
        for client in (self.admin.http, self.owner.http, self.asker.http, *self.callers.values()):
            client.close()


def token_of(http: httpx.Client) -> str:
    return http.headers["authorization"].removeprefix("Bearer ")
