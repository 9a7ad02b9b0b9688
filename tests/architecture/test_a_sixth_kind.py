"""A further kind of request is one file in `domain/kinds`, its name in two lists there, and one row in each face."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import interlock
from interlock.domain.kinds import BODIES, VALUES, RequestKind
from interlock.faces.agui.kinds import ROWS as AGUI
from interlock.faces.confirm.kinds import ROWS as CONFIRM
from interlock.faces.hitl.kinds import ROWS as HITL
from interlock.faces.langgraph.answers import ROWS as LANGGRAPH_ANSWERS
from interlock.faces.langgraph.interrupts import ROWS as LANGGRAPH
from interlock.faces.mcp.results import ANSWERS as MCP
from interlock.faces.sessions.kinds import ROWS as SESSIONS
from interlock.faces.shared.responses import FORMS
from interlock.faces.threads.kinds import ROWS as THREADS

PACKAGE = Path(interlock.__file__).parent

RATING = """
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Self

from interlock.domain.errors import FieldError
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.kinds.fields import Fields
from interlock.domain.kinds.kind import AnswerValue, RequestBody, RequestKind, wrong


@dataclass(frozen=True, slots=True)
class RatingAnswer(AnswerValue):
    kind: ClassVar[RequestKind] = RequestKind.RATING
    stars: int

    def to_json(self) -> JsonObject:
        return {"stars": self.stars}

    @classmethod
    def from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(data["stars"])


@dataclass(frozen=True, slots=True, kw_only=True)
class RatingBody(RequestBody):
    kind: ClassVar[RequestKind] = RequestKind.RATING
    id_prefix: ClassVar[str] = "rate"
    what: str

    @classmethod
    def read(cls, fields: Fields) -> Self:
        return cls(what=fields.text("what"))

    @classmethod
    def own_from_json(cls, data: Mapping[str, JsonValue]) -> Self:
        return cls(what=data["what"])

    def own_json(self) -> JsonObject:
        return {"what": self.what}

    def check(self, given: Mapping[str, JsonValue]) -> RatingAnswer:
        if given.get("stars") not in range(1, 6):
            raise wrong(FieldError("stars", "range", "stars is from 1 to 5"))
        return RatingAnswer(given["stars"])

    def default(self) -> None:
        return None

    @property
    def headline(self) -> str:
        return self.what
"""

EDITS = {
    "domain/kinds/kind.py": [('    QUESTIONS = "questions"\n', '    QUESTIONS = "questions"\n    RATING = "rating"\n')],
    "domain/kinds/__init__.py": [
        (
            "from interlock.domain.kinds.questions import",
            "from interlock.domain.kinds.rating import RatingAnswer, RatingBody\n"
            "from interlock.domain.kinds.questions import",
        ),
        ("EnvVarBody, QuestionsBody)", "EnvVarBody, QuestionsBody, RatingBody)"),
        ("EnvVarAnswer, QuestionsAnswer)", "EnvVarAnswer, QuestionsAnswer, RatingAnswer)"),
    ],
    "faces/threads/kinds.py": [
        (
            "    RequestKind.QUESTIONS: Row(",
            '    RequestKind.RATING: Row(lambda body, _: [{"question": body.what, "options": []}],\n'
            '                            lambda _, answers: {"stars": int(answers[0])}),\n'
            "    RequestKind.QUESTIONS: Row(",
        )
    ],
    "faces/confirm/kinds.py": [
        (
            "    RequestKind.QUESTIONS: Row(",
            "    RequestKind.RATING: Row(lambda body, _: body.what),\n    RequestKind.QUESTIONS: Row(",
        )
    ],
    "faces/sessions/kinds.py": [
        (
            "    RequestKind.QUESTIONS: Row(",
            '    RequestKind.RATING: Row(lambda body: body.what, lambda _, args: {"stars": args["stars"]}),\n'
            "    RequestKind.QUESTIONS: Row(",
        )
    ],
    "faces/mcp/results.py": [
        (
            "    RequestKind.QUESTIONS: _questions,",
            '    RequestKind.RATING: lambda _, value: {"answer": value.stars},\n    RequestKind.QUESTIONS: _questions,',
        )
    ],
    "faces/hitl/kinds.py": [
        (
            "    RequestKind.QUESTIONS: Row(",
            '    RequestKind.RATING: Row("rating_asked", "rating_answered"),\n    RequestKind.QUESTIONS: Row(',
        )
    ],
    "faces/agui/kinds.py": [
        (
            "    RequestKind.QUESTIONS: Row(",
            '    RequestKind.RATING: Row("input_required", lambda _: {}, lambda _, payload: _object(payload)),\n'
            "    RequestKind.QUESTIONS: Row(",
        )
    ],
    "faces/langgraph/interrupts.py": [
        (
            "    RequestKind.QUESTIONS: _questions,",
            "    RequestKind.RATING: lambda body: body.what,\n    RequestKind.QUESTIONS: _questions,",
        )
    ],
    "faces/langgraph/answers.py": [
        (
            "    RequestKind.QUESTIONS: _questions,",
            "    RequestKind.RATING: lambda _, value: value,\n    RequestKind.QUESTIONS: _questions,",
        )
    ],
    "faces/shared/responses.py": [
        (
            "    RequestKind.DECISION: (",
            '    RequestKind.RATING: ({"stars": ((int,), "a number")},\n'
            "                         lambda request, response: Reply(request.id, dict(response))),\n"
            "    RequestKind.DECISION: (",
        )
    ],
}

ON_EVERY_FACE = """
import json
from datetime import UTC, datetime
from interlock.domain import event_json, showing
from interlock.domain.event import PauseOpened, RequestSettled
from interlock.domain.kinds import RequestKind, read_ask
from interlock.domain.request import Answer, AnswerOrigin, PublicRequest, Request, RequestStatus
from interlock.faces.agui.events import interrupt
from interlock.faces.agui.kinds import reply_of
from interlock.faces.confirm.kinds import question, description_of
from interlock.faces.hitl import views as hitl
from interlock.faces.langgraph.answers import read
from interlock.faces.langgraph.interrupts import Interrupt
from interlock.faces.mcp.results import outcome_of
from interlock.faces.sessions.kinds import response_of
from interlock.faces.sessions.views import request_view as session_view
from interlock.faces.shared.responses import reply_to
from interlock.faces.threads.actions import answer_value
from interlock.faces.threads.views import request_view as thread_view
from interlock.services.requests.pending import RequestView

at = datetime(2026, 11, 15, tzinfo=UTC)
body = read_ask(RequestKind("rating"), {"what": "The soup?"})
request = Request("rate_1", "p1", "ann-1", RequestStatus.PENDING, 0, body, at)
shown = PublicRequest.of(request)
opened = PauseOpened("p1", "node", (shown,))
assert event_json.from_json(opened.type, json.loads(json.dumps(event_json.to_json(opened))), at) == opened
checked = {
    "threads": request.check(answer_value(request, ["5"])),
    "hitl, confirm and inbox": request.check(reply_to(request, {"stars": 5}).value),
    "sessions": request.check(response_of(request, {"stars": 5})),
    "agui": request.check(reply_of(request, {"stars": 5}).value),
    "langgraph": request.check(read([request], {"stars": 5}, lambda _, given: given)[0].value),
}
assert len({answer.stars for answer in checked.values()}) == 1, checked
end = RequestSettled("rate_1", "p1", request.kind, RequestStatus.ANSWERED, checked["threads"], "ann", "web",
                     AnswerOrigin.PERSON, at)
given = Answer("rate_1", checked["threads"], "u1", "ann", "web", AnswerOrigin.PERSON, at)
assert outcome_of(RequestView(request, given)).answer == 5
print(json.dumps({
    "threads": thread_view(shown, "en")["questions"][0]["question"],
    "hitl": hitl.asked_event("ann-1", shown, "en")["data"]["what"],
    "hitl answered": hitl.settled_event("ann-1", end)["type"],
    "confirm": question(request.body, "en"),
    "confirm description": description_of(request.body, "en"),
    "sessions": session_view(request, "en")["description"],
    "inbox": showing.headline(request, None),
    "agui": interrupt(shown, "en", "/requests/rate_1")["message"],
    "langgraph": Interrupt("id", None, (request,)).view("en")["value"],
}))
"""


def test_a_further_kind_is_one_file_and_one_row_a_face(tmp_path: Path) -> None:
    changed = tmp_path / "interlock"
    shutil.copytree(PACKAGE, changed, ignore=shutil.ignore_patterns("static", "__pycache__"))
    (changed / "domain/kinds/rating.py").write_text(RATING)
    for name, edits in EDITS.items():
        text = (changed / name).read_text()
        for before, after in edits:
            assert text.count(before) == 1, (name, before)
            text = text.replace(before, after)
        (changed / name).write_text(text)
    done = subprocess.run(
        [sys.executable, "-c", ON_EVERY_FACE],
        env={**os.environ, "PYTHONPATH": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told.pop("hitl answered") == "rating_answered"
    assert set(told.values()) == {"The soup?"}, told


def test_every_kind_has_a_row_on_every_face() -> None:
    for table in (BODIES, VALUES, THREADS, CONFIRM, HITL, SESSIONS, AGUI, LANGGRAPH, LANGGRAPH_ANSWERS, MCP, FORMS):
        assert set(table) == set(RequestKind)
