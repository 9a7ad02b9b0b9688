"""One request: what it is, and the ways to answer it."""

import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, ClassVar

from textual.app import ComposeResult, SuspendNotSupported
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.content import Content
from textual.widgets import Static

from interlock_client.cli._server import reason
from interlock_client.cli.terminal import editing
from interlock_client.cli.terminal.confirm_screen import GUARD, Act, ConfirmScreen
from interlock_client.cli.terminal.contents import section
from interlock_client.cli.terminal.edit_screen import EditScreen
from interlock_client.cli.terminal.forms import Form, Incomplete, form_of
from interlock_client.cli.terminal.help_screen import HelpScreen
from interlock_client.cli.terminal.open_request import OpenRequest
from interlock_client.cli.terminal.revealing import Piece, json_text
from interlock_client.cli.terminal.sections import sections
from interlock_client.cli.terminal.team_screen import TeamScreen
from interlock_client.cli.terminal.team_wording import claim_of, is_full
from interlock_client.cli.terminal.text_screen import TextEntry, TextScreen
from interlock_client.cli.terminal.wording import (
    KINDS,
    ONCE,
    Remember,
    deadline,
    heading,
    moment,
    one_line,
    remember_choices,
    time_left,
)
from interlock_client.errors import AlreadySettled, InterlockError, NetworkError, ServerUnavailable
from interlock_client.hitl import Answered

if TYPE_CHECKING:
    from interlock_client.cli.terminal.app import InboxApp

CLIENT = {"client": "interlock inbox"}


class RequestScreen(TeamScreen):
    app: "InboxApp"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("a", "approve", show=False),
        Binding("r", "refuse", show=False),
        Binding("e", "edit", show=False),
        Binding("m", "reply", show=False),
        Binding("ctrl+s", "send", show=False, priority=True),
        Binding("ctrl+n", "cancel", show=False, priority=True),
        Binding("j,down", "scroll(1)", show=False),
        Binding("k,up", "scroll(-1)", show=False),
        Binding("space,pagedown", "page(1)", show=False),
        Binding("b,pageup", "page(-1)", show=False),
        Binding("question_mark", "help", show=False),
        Binding("escape,q", "leave", show=False),
    ]
    DEFAULT_CSS = """
    RequestScreen { layout: vertical; }
    RequestScreen #top { height: auto; background: $primary-muted; }
    RequestScreen #heading { width: 1fr; height: auto; padding: 0 1; text-style: bold; }
    RequestScreen #left { width: auto; padding: 0 1; }
    RequestScreen #about { height: auto; padding: 0 1; color: $text-muted; }
    RequestScreen #body { height: 1fr; padding: 0 1; }
    RequestScreen .section { height: auto; margin-bottom: 1; }
    RequestScreen .agent { background: $warning-muted; }
    RequestScreen #notice { height: auto; max-height: 6; padding: 0 1; color: $text-warning; }
    RequestScreen #keys { height: auto; padding: 0 1; color: $text-muted; }
    """

    def __init__(self, waiting: OpenRequest) -> None:
        super().__init__(waiting)
        self._unsure = False
        self._over_claim = False
        """Whether the reader knows that somebody else has it, and answers all the same."""
        self._heard = ""
        """How it was settled, heard while an answer was under way: most likely it is that answer."""
        self._shown_at = float("inf")

    def compose(self) -> ComposeResult:
        with Horizontal(id="top"):
            yield Static(Content(heading(self.waiting)), id="heading", markup=False)
            yield Static(id="left", markup=False)
        yield Static(Content(self._about()), id="about", markup=False)
        yield Static(id="team", markup=False)
        with VerticalScroll(id="body"):
            for number, one in enumerate(sections(self.waiting)):
                classes = "section agent" if one.by_agent else "section"
                yield Static(section(one), id=f"section-{number}", classes=classes, markup=False)
            yield Static(Content(self._around()), id="around", markup=False)
            form = form_of(self.waiting)
            if form is not None:
                yield form
            yield Static(id="comments", markup=False)
        yield Static(id="notice", markup=False)
        yield Static(id="keys", markup=False)

    def _about(self) -> str:
        return f"{KINDS[self.waiting.kind]} · {one_line(self.waiting.asker)} · {self.waiting.id}"

    def _around(self) -> str:
        return f"{deadline(self.waiting)}\nConversation {one_line(self.waiting.conversation_id)}"

    def on_mount(self) -> None:
        self._shown_at = time.monotonic()
        self.refresh_state()
        self.refresh_team()
        self.load_comments()
        self.set_interval(1.0, self.refresh_state)
        first = self._form.first_field if self._form else None
        (first or self.query_one("#body")).focus()

    @property
    def _form(self) -> Form | None:
        return next(iter(self.query(Form)), None)

    @property
    def ready(self) -> bool:
        """Whether keys act: those pressed as it came up were meant for something else."""
        return time.monotonic() - self._shown_at > GUARD

    # What is known of it from elsewhere.

    def refresh_waiting(self, found: OpenRequest) -> None:
        if (found.expires_at, found.people) != (self.waiting.expires_at, self.waiting.people):
            self.waiting = found
            self.query_one("#around", Static).update(Content(self._around()))
            self.refresh_team()
            self.refresh_state()

    def still_waits(self) -> None:
        """It was read again."""
        self.load_comments()
        if self._unsure and not self.sending:
            self._unsure = False
            self.show_text("It did not arrive: this still waits for an answer.")

    def show_settled(self, how: str) -> None:
        """Somebody else, or its deadline, was first."""
        if self.over or self.sending:
            self._heard = how
            return
        self.over = True
        self.refresh_team()
        has_voted = self.waiting.people is not None and self.waiting.people.own_vote is not None
        sent = "" if self._unsure or has_voted else " You sent nothing."
        self.show_text(f"{how}{sent} Esc goes back.")
        self.refresh_state()

    def refresh_state(self) -> None:
        if not self.query("#keys"):
            return
        if self.waiting.expires_at is not None and not self.over:
            seconds = (self.waiting.expires_at - datetime.now(UTC)).total_seconds()
            self.query_one("#left", Static).update(Content(f"{time_left(seconds)} left"))
        else:
            self.query_one("#left", Static).update(Content(""))
        self.query_one("#keys", Static).update(Content(self._keys()))

    def _keys(self) -> str:
        if self.over:
            return "Esc back"
        if not self.app.connected:
            return f"{self.app.connection}: answering is off until it is back   Esc back"
        is_form = self._form is not None
        keys = "   ".join(self._form_keys() if is_form else self._approval_keys())
        team = self.team_keys(is_form=is_form)
        return f"{keys}\n{team}" if team else keys

    def _form_keys(self) -> list[str]:
        answer = ["Tab next", "Space choose", "Ctrl+S send"] if self.waiting.may_answer else []
        return [*answer, *(["Ctrl+N don't answer"] if self.waiting.may_refuse else []), "Esc back"]

    def _approval_keys(self) -> list[str]:
        keys = {"accept": "a approve", "reject": "r refuse", "edit": "e edit", "response": "m reply"}
        offered = [text for name, text in keys.items() if self._is_offered(name)]
        return [*offered, *(["^N don't answer"] if self.waiting.may_refuse else []), "Esc back", "? help"]

    def _is_offered(self, decision: str) -> bool:
        if decision == "reject":
            return self.waiting.may_refuse
        return self.waiting.allows(decision) and not (decision == "accept" and self._has_said_yes)

    @property
    def _has_said_yes(self) -> bool:
        people = self.waiting.people
        return people is not None and people.own_vote == "yes" and not is_full(people)

    # Keys.

    def may_act(self) -> bool:
        if self.over or self.sending or not self.ready:
            return False
        if not self.app.connected:
            self.show_text("There is no connection: nothing is sent.")
            return False
        if self._unsure:
            self.show_text("Not known yet what became of it; wait for the connection.")
            return False
        return True

    def _may_decide(self, decision: str) -> bool:
        if self.waiting.kind != "approval" or not self.may_act():
            return False
        if decision != "reject" and not self.waiting.may_answer:
            self._say_why()
        elif decision == "reject" and not self.waiting.may_refuse:
            self.show_text(self.app.team.text("no refusal"))
        elif decision == "accept" and self._has_said_yes:
            self._say_why()
        elif decision != "reject" and not self.waiting.allows(decision):
            self.show_text(self._not_taken())
        else:
            return True
        return False

    def _say_why(self) -> None:
        """Why there is no yes of theirs, or no further one."""
        self.show_text(next(self.app.team.own(self.waiting, self.app.me), ""))

    def _not_taken(self) -> str:
        people = self.waiting.people
        if people is not None and people.votes is not None:
            return self.app.team.text("left out", people=people.needs.people)
        return "The agent does not take that answer here."

    def _was_read(self) -> bool:
        """Whether the end of what will run was on the screen."""
        body, what = self.query_one("#body", VerticalScroll), self.query_one("#section-0")
        below = what.virtual_region.bottom - what.styles.margin.bottom - round(body.scroll_offset.y) - body.size.height
        if below > 0:
            self.show_text(f"Read it first: {below} more line{'s' if below > 1 else ''} below. Space scrolls.")
        return below <= 0

    def action_approve(self) -> None:
        if self._may_decide("accept") and self._was_read():
            act = Act(
                f"Allow {one_line(self.waiting.tool)}, exactly as shown?",
                [(Piece(f"Asked by {one_line(self.waiting.asker)}. There is no undo."),)],
                self.waiting.words_of_yes,
                remember_choices(self.waiting, allow=True),
            )
            self.app.push_screen(ConfirmScreen(act), self._approve)

    def _approve(self, remember: Remember | None) -> None:
        if remember is not None:
            self._submit({"granted": True, **remember.response, **self._code()}, "approved")

    def _code(self) -> dict[str, str]:
        """It was typed, where it is wanted."""
        return {} if self.waiting.code is None else {"code": self.waiting.code}

    def action_refuse(self) -> None:
        if self._may_decide("reject"):
            title = f"Refuse {one_line(self.waiting.tool)}. Why? The agent is told; it may stay empty."
            choices = remember_choices(self.waiting, allow=False)
            self.app.push_screen(TextScreen(title, self.unsent_texts.get("no", ""), remember=choices), self._refuse)

    def _refuse(self, words: TextEntry | None) -> None:
        if words is not None:
            self.unsent_texts["no"] = words.text
            why = {"reason": words.text} if words.text else {}
            self._submit({"granted": False, **why, **words.remember.response}, "refused")

    def action_reply(self) -> None:
        if self._may_decide("response"):
            title = f"Reply to the agent in place of {one_line(self.waiting.tool)}, which does not run."
            self.app.push_screen(TextScreen(title, self.unsent_texts.get("reply", ""), required=True), self._reply)

    def _reply(self, words: TextEntry | None) -> None:
        if words is not None:
            self.unsent_texts["reply"] = words.text
            self._submit({"granted": False, "reply": words.text}, "replied to")

    def action_edit(self) -> None:
        if self._may_decide("edit") and self._was_read():
            before = self.unsent_texts.get("edit") or json_text(dict(self.waiting.args))
            edited = self._in_own_editor(before)
            if edited is None:
                self.app.push_screen(EditScreen(before), self._apply_edit)
            else:
                self._apply_edit(edited)

    def _in_own_editor(self, text: str) -> str | None:
        if not self.app.editor:
            return None
        try:
            with self.app.suspend():
                return editing.in_editor(self.app.editor, text)
        except SuspendNotSupported:
            return None

    def _apply_edit(self, text: str | None) -> None:
        if text is None:
            return
        try:
            args = editing.read(text)
        except editing.NotJson as error:
            self.app.push_screen(EditScreen(text, f"This is no JSON object: {error}"), self._apply_edit)
            return
        self.unsent_texts["edit"] = text
        if args == self.waiting.args:
            self.show_text("Nothing was changed, and nothing is sent.")
            return
        words = self.waiting.words_of_yes
        act = Act(
            f"Allow {one_line(self.waiting.tool)} with these arguments instead?",
            list(editing.changes(self.waiting.args, args)),
            words,
        )

        def on_confirm(remember: Remember | None) -> None:
            if remember is not None:
                self._submit({"granted": True, "args": args, **self._code()}, "approved, edited")

        self.app.push_screen(ConfirmScreen(act), on_confirm)

    def action_send(self) -> None:
        form = self._form
        if form is None or not self.may_act():
            return
        if not self.waiting.may_answer:
            self._say_why()
            return
        try:
            response, words = form.response(), form.words
        except Incomplete as error:
            self.show_text(str(error))
            return
        if not words:
            self._submit(response, "answered")
            return
        chosen = one_line(str(response["decision"]))
        act = Act(f"Answer {chosen}? The agent marks it as dangerous.", [(Piece("There is no undo."),)], words, (ONCE,))

        def on_confirm(remember: Remember | None) -> None:
            if remember is not None:
                self._submit(response, "answered")

        self.app.push_screen(ConfirmScreen(act), on_confirm)

    def action_cancel(self) -> None:
        if self.may_act() and not self.waiting.may_refuse:
            self.show_text(self.app.team.text("no refusal"))
        elif self.may_act():
            title = "Do not answer: the agent is told that nobody did. Why? It may stay empty."
            self.app.push_screen(TextScreen(title, self.unsent_texts.get("cancel", "")), self._cancel)

    def _cancel(self, words: TextEntry | None) -> None:
        if words is not None:
            self.unsent_texts["cancel"] = words.text
            self._submit(None, "cancelled", words.text or None)

    def action_scroll(self, lines: int) -> None:
        self.query_one("#body", VerticalScroll).scroll_relative(y=lines, animate=False)

    def action_page(self, pages: int) -> None:
        body = self.query_one("#body", VerticalScroll)
        body.scroll_relative(y=pages * max(body.size.height - 1, 1), animate=False)

    def action_help(self) -> None:
        self.app.push_screen(HelpScreen())

    def action_leave(self) -> None:
        if not self.sending:
            self.dismiss(None)

    # Sending.

    def _submit(self, response: dict[str, Any] | None, done: str, why: str | None = None) -> None:
        # Between the question and the act somebody else may have been first.
        if not self.may_act():
            return
        claim = claim_of(self.waiting.people)
        if response is not None and claim is not None and not claim.mine and not self._over_claim:
            self._ask_over(claim.by, claim.until, lambda: self._submit(response, done, why))
        else:
            self.sending = True
            self.show_text("Sending…")
            self.run_worker(self._send(response, done, why), exit_on_error=True)

    def _ask_over(self, by: str, until: datetime, submit: Callable[[], None]) -> None:
        """Once: whoever answers what somebody else has says that they know of it."""

        def on_confirm(remember: Remember | None) -> None:
            if remember is not None:
                self._over_claim = True
                submit()

        text = self.app.team.text("over", by=one_line(by), time=moment(until))
        self.app.push_screen(ConfirmScreen(Act(text, ())), on_confirm)

    async def _send(self, response: dict[str, Any] | None, done: str, why: str | None) -> None:
        client, answered = self.app.sender, None
        over_claim = self._over_claim if self.waiting.people is not None else None
        try:
            if response is None:
                await client.cancel(self.waiting.id, why)
            else:
                answered = await client.respond(self.waiting.id, response, metadata=CLIENT, over_claim=over_claim)
        except AlreadySettled as error:
            self.sending = False
            self.show_settled(_first_sentence(error))
        except (NetworkError, ServerUnavailable) as error:
            self._unsure = True
            self.show_text(f"Sent, but no reply: {reason(error)}. Don't assume that it ran; looking…")
            if self._heard:
                self.sending = False
                self.show_settled(self._heard)
        except InterlockError as error:
            self._show_refused(error, lambda: self._submit(response, done, why))
        else:
            self._show_taken(answered, done)
        finally:
            self.sending = False
            if not self.over:
                self.app.feed.reread(self.waiting.id)
            self.refresh_state()

    def _show_refused(self, error: InterlockError, again: Callable[[], None]) -> None:
        if error.details.get("alias") == "CLAIMED" and not self._over_claim:
            # Claimed in the moment of the answer.
            self.show_text("")
            self._ask_over(error.details["claimed_by"], datetime.fromisoformat(error.details["claimed_until"]), again)
        else:
            self.show_text(f"Not taken, and still waiting: {reason(error)}")

    def _show_taken(self, answered: Answered | None, done: str) -> None:
        if answered is not None and answered.status == "pending":
            votes = answered.votes
            key = "no is in" if done == "refused" or votes is None else "yes is in"
            values = {"yes": votes.yes, "needed": votes.needed} if votes else {}
            self.show_text(f"✓ {self.app.team.text(key, **values)}")
            return
        self.over = True
        self.app.feed.mark_answered(self.waiting.id)
        if self._form is not None:
            self._form.clear()
            self._form.disabled = True
        self.refresh_team()
        self.show_text(f"✓ {done}, {moment(datetime.now().astimezone())}. Esc goes back.")


def _first_sentence(error: AlreadySettled) -> str:
    text = reason(error)
    return f"{text[:1].upper()}{text[1:]}."
