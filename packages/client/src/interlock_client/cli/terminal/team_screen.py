"""What a person does with a request beside answering it: claims, comments, passing on, taking a yes back."""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, ClassVar

from textual.binding import Binding, BindingType
from textual.content import Content
from textual.screen import Screen
from textual.widgets import Static

from interlock_client.cli._server import reason
from interlock_client.cli.terminal.contents import join_lines, section
from interlock_client.cli.terminal.open_request import OpenRequest
from interlock_client.cli.terminal.revealing import line, lines
from interlock_client.cli.terminal.sections import Section
from interlock_client.cli.terminal.team_wording import claim_of
from interlock_client.cli.terminal.text_screen import TextEntry, TextScreen
from interlock_client.cli.terminal.wording import moment, one_line
from interlock_client.errors import InterlockError
from interlock_client.teams import Comment

if TYPE_CHECKING:
    from interlock_client.cli.terminal.app import InboxApp


class TeamScreen(Screen[None]):
    """The letters are for approvals, where nothing is typed; the other keys work in forms too."""

    app: "InboxApp"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("c,f2", "claim", show=False),
        Binding("x,f3", "release", show=False),
        Binding("t,f4", "comment", show=False),
        Binding("d,f5", "pass_on", show=False),
        Binding("u,f6", "take_back", show=False),
    ]
    DEFAULT_CSS = """
    TeamScreen #team { height: auto; max-height: 8; padding: 0 1; display: none; }
    TeamScreen #comments { height: auto; margin-top: 1; display: none; }
    """

    def __init__(self, waiting: OpenRequest) -> None:
        super().__init__()
        self.waiting = waiting
        self.over = False
        """Nothing more can be answered here: it is done, by whomever."""
        self.sending = False
        self._comments: list[Comment] = []

    def refresh_team(self) -> None:
        """Where it stands now."""
        people, wording = self.waiting.people, self.app.team
        shown = self.query_one("#team", Static)
        shown.display = people is not None and not self.over
        if people is None:
            return
        texts = [*wording.state(people), *wording.own(self.waiting, self.app.me)]
        shown.update(join_lines([line(text) for text in texts]))
        is_blind = people.may_answer and people.votes is not None and people.own_vote is None
        texts = [wording.text("blind comments")] if is_blind else []
        texts += wording.comments(self._comments)
        comments = self.query_one("#comments", Static)
        comments.display = bool(self._comments)
        all_lines = tuple(one for text in texts for one in lines(text))
        comments.update(section(Section(wording.text("comments"), all_lines)))

    def load_comments(self) -> None:
        if self.waiting.people is not None and not self.over:
            self.run_worker(self._load_comments(), exclusive=True, group="comments", exit_on_error=True)

    async def _load_comments(self) -> None:
        try:
            self._comments = await self.app.sender.comments(self.waiting.id)
        except InterlockError:
            # They come with the next change; what is shown of the request is known without them.
            return
        if self.query("#team"):
            self.refresh_team()

    def team_keys(self, *, is_form: bool) -> str:
        people, text = self.waiting.people, self.app.team.text
        if people is None or self.over:
            return ""
        claim = claim_of(people)
        is_mine = claim is not None and claim.mine
        keys: list[tuple[str, str]] = []
        if people.may_answer and (claim is None or is_mine):
            keys.append(("F2" if is_form else "c", text("key.keep" if is_mine else "key.claim")))
        if is_mine:
            keys.append(("F3" if is_form else "x", text("key.release")))
        keys.append(("F4" if is_form else "t", text("key.comment")))
        if people.may_answer and people.own_vote is None:
            keys.append(("F5" if is_form else "d", text("key.pass on")))
        if people.own_vote == "yes":
            keys.append(("F6" if is_form else "u", text("key.take back")))
        return "   ".join(f"{key} {what}" for key, what in keys)

    # Keys.

    def action_claim(self) -> None:
        async def claim() -> str:
            return self.app.team.text("claimed", time=moment(await self.app.sender.claim(self.waiting.id)))

        self._do(claim)

    def action_release(self) -> None:
        async def release() -> str:
            await self.app.sender.release(self.waiting.id)
            return self.app.team.text("released")

        # Whether there is a claim is for the server to say: what is shown here may be older than one's own last key.
        self._do(release)

    def action_take_back(self) -> None:
        async def withdraw() -> str:
            votes = await self.app.sender.withdraw_vote(self.waiting.id)
            return self.app.team.text("taken back", yes=votes.yes, needed=votes.needed)

        self._do(withdraw)

    def action_comment(self) -> None:
        if self._may_team():
            text = self.unsent_texts.get("comment", "")
            self.app.push_screen(TextScreen(self.app.team.text("say"), text, required=True), self._comment)

    def _comment(self, words: TextEntry | None) -> None:
        async def comment() -> str:
            await self.app.sender.comment(self.waiting.id, words.text if words else "")
            self.unsent_texts.pop("comment", None)
            return self.app.team.text("commented")

        if words is not None:
            self.unsent_texts["comment"] = words.text
            self._do(comment)

    def action_pass_on(self) -> None:
        if not self._may_team():
            return
        if not self.waiting.may_answer:
            self.show_text(next(iter(self.app.team.own(self.waiting, self.app.me)), ""))
            return
        name = self.unsent_texts.get("to", "")
        self.app.push_screen(TextScreen(self.app.team.text("pass on to"), name, required=True), self._pass_on)

    def _pass_on(self, name: TextEntry | None) -> None:
        if name is None:
            return
        self.unsent_texts["to"] = name.text

        async def pass_on(note: str) -> str:
            await self.app.sender.delegate(self.waiting.id, name.text, note)
            return self.app.team.text("passed on", name=one_line(name.text))

        def on_note(note: TextEntry | None) -> None:
            if note is not None:
                self._do(lambda: pass_on(note.text))

        self.app.push_screen(TextScreen(self.app.team.text("pass on note", name=one_line(name.text))), on_note)

    # Doing it.

    @property
    def unsent_texts(self) -> dict[str, str]:
        """Words that could not be sent, by what they are for: there again when that is begun once more."""
        return self.app.typed.setdefault(self.waiting.id, {})

    def may_act(self) -> bool:
        raise NotImplementedError

    def show_text(self, text: str) -> None:
        self.query_one("#notice", Static).update(Content(text))

    def refresh_state(self) -> None:
        raise NotImplementedError

    def _may_team(self) -> bool:
        if not self.may_act():
            return False
        if self.waiting.people is None:
            self.show_text(self.app.team.text("nobody named"))
            return False
        return True

    def _do(self, work: Callable[[], Awaitable[str]]) -> None:
        if self._may_team():
            self.sending = True
            self.run_worker(self._run_act(work), exit_on_error=True)

    async def _run_act(self, work: Callable[[], Awaitable[str]]) -> None:
        try:
            text = await work()
        except InterlockError as error:
            text = self.app.team.text("failed", message=reason(error))
        finally:
            self.sending = False
            self.app.feed.reread(self.waiting.id)
        self.show_text(text)
        self.refresh_state()
