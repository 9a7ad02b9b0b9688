"""A terminal client of the sessions face: it calls the agent, shows what is asked, and takes the four answers.

.venv/bin/interlock serve --auth none
.venv/bin/python examples/clients/session_client.py [USER] [URL]
"""

import json
import sys
import time
from typing import Any

import httpx
from rich.console import Console
from rich.panel import Panel
from rich.prompt import Prompt
from rich.text import Text

from interlock_client.visible import visible

WAIT = httpx.Timeout(10.0, read=30.0)
TYPES = {"allow_accept": "accept", "allow_reject": "reject", "allow_edit": "edit", "allow_respond": "response"}

console = Console()


class Session:
    def __init__(self, url: str, user: str) -> None:
        self.http = httpx.Client(base_url=url, timeout=WAIT, headers={"accept-language": "en"})
        self.user = user

    def call(self, path: str, **body: Any) -> dict[str, Any] | None:
        """What the call came to. One that takes too long, or finds the session busy, is waited for by looking."""
        try:
            reply = self.http.post(path, json={"user_id": self.user, **body})
        except httpx.ReadTimeout:
            return self.poll()
        if reply.is_success:
            return reply.json()
        show(f"Not taken: {reply.json()['detail']}")
        return self.poll()

    def poll(self) -> dict[str, Any] | None:
        """The last response, once the session no longer runs; None when there is none."""
        with console.status("running"):
            while True:
                status = self.http.get(f"/agent/status/{self.user}").raise_for_status().json()
                if status["status"] != "running":
                    return status["last_response"]
                time.sleep(0.5)

    def answer(self, response: dict[str, Any]) -> dict[str, Any] | None:
        """Show what is asked, and send what the person says."""
        asked = response["interrupt_data"]["requests"][0]
        shown = json.dumps(asked["action_request"], indent=2, ensure_ascii=False)
        console.print(Panel(Text(visible(f"{asked['description']}\n{shown}")), title=asked["interrupt_type"]))
        allowed = [name for key, name in TYPES.items() if asked["config"][key]]
        how = Prompt.ask("Your answer", choices=allowed, console=console)
        args = {**ARGS[how](asked), "request_id": asked["request_id"]}
        return self.call("/agent/resume", session_id=response["session_id"], response_type=how, args=args)


def show(text: str) -> None:
    """What an agent wrote must not steer the terminal."""
    console.print(Text(visible(text)))


def edited(_asked: dict[str, Any]) -> dict[str, Any]:
    text = Prompt.ask("The arguments, as JSON", console=console)
    try:
        return {"args": json.loads(text)}
    except ValueError:
        return {"args": text}


def answered(asked: dict[str, Any]) -> dict[str, Any]:
    match asked["interrupt_type"]:
        case "questions":
            questions = asked["request_data"]["questions"]
            return {"answers": [Prompt.ask(one["question"], console=console) for one in questions]}
        case "env_var":
            fields = asked["request_data"]["fields"]
            return {"values": {one["name"]: Prompt.ask(one["name"], password=True, default="") for one in fields}}
        case _:
            return {"args": Prompt.ask("Your text", console=console)}


ARGS = {
    "accept": lambda _: {},
    "reject": lambda _: {"reason": Prompt.ask("Why not", default="", console=console)},
    "edit": edited,
    "response": answered,
}


def main(user: str = "ann", url: str = "http://127.0.0.1:8000") -> None:
    session = Session(url, user)
    response = session.poll()
    while True:
        if response and response["status"] == "interrupted":
            response = session.answer(response)
            continue
        if response:
            show(response["message"] or response["result"]["output"])
        response = session.call("/agent/invoke", query=Prompt.ask(user, console=console))


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except (EOFError, KeyboardInterrupt):
        console.print("Bye.")
