"""Teams: groups, who is away, and what people do with a request beside answering it."""

from collections.abc import Sequence
from datetime import UTC, datetime

from interlock_client import teams
from interlock_client._transport import Call, Part, segment
from interlock_client.inbox import InboxRequest

GROUPS = "/api/v1/groups"
AWAY = "/api/v1/away"
REQUESTS = "/api/v1/inbox/requests"


class Teams(Part):
    async def groups(self) -> list[teams.Group]:
        return (await self._got(teams.Groups, GROUPS)).groups

    async def create_group(self, name: str, members: Sequence[str] = ()) -> teams.Group:
        """Make a group; for admins, as changing and removing one. `Conflict` where there is one of this name."""
        body = self._body(name=name, members=list(members))
        return await self._transport.fetch(teams.Group, Call("POST", GROUPS, body))

    async def set_group(self, name: str, members: Sequence[str]) -> teams.Group:
        """Have a group consist of these. Who is taken out does not count for what is open either."""
        body = self._body(members=list(members))
        return await self._transport.fetch(teams.Group, Call("PUT", f"{GROUPS}/{segment(name)}", body, repeatable=True))

    async def remove_group(self, name: str) -> None:
        """What is put to it then waits for whoever asked, and for admins, to end it."""
        await self._transport.fetch(teams.GroupRemoved, Call("DELETE", f"{GROUPS}/{segment(name)}"))

    async def find_people(self, query: str = "") -> list[str]:
        """Names of people who may sign in, 20 at most."""
        return (await self._got(teams.FoundPeople, "/api/v1/people/names", {"q": query})).people

    async def away(self) -> teams.AwayTime | None:
        """When the caller is away; None: they are not, and will not be."""
        return (await self._got(teams.Away, AWAY)).away

    async def set_away(
        self, until: datetime, *, since: datetime | None = None, to: str | None = None, person: str | None = None
    ) -> teams.AwayTime | None:
        """Be away from now or `since` until then; what is put to the caller by name goes to `to` as well.

        No right is taken away. `person` is for admins: somebody else.
        """
        begin = datetime.now(UTC) if since is None else since
        body = self._body(**{"from": begin.isoformat(), "until": until.isoformat(), "to": to, "person": person})
        return (await self._transport.fetch(teams.Away, Call("PUT", AWAY, body, repeatable=True))).away

    async def end_away(self, person: str | None = None) -> None:
        await self._transport.fetch(teams.Away, Call("DELETE", AWAY, params={"person": person}, repeatable=True))

    async def inbox_request(self, request_id: str) -> InboxRequest:
        """One request with everything that its page shows, and `people`: where it stands with them."""
        return await self._got(InboxRequest, _of(request_id))

    async def claim(self, request_id: str) -> datetime:
        """Say "I have it", until the moment that is given back; again for longer, for an hour in all.

        It keeps nobody from answering, and holds off the next level. `Conflict` where somebody else has it.
        """
        call = Call("POST", _of(request_id, "claim"), self._body())
        return (await self._transport.fetch(teams.Claimed, call)).until

    async def release(self, request_id: str) -> None:
        """End one's claim."""
        await self._transport.fetch(teams.Released, Call("POST", _of(request_id, "release"), self._body()))

    async def delegate(self, request_id: str, to: str, note: str = "") -> None:
        """Pass one's place on to somebody who may be asked for it anyway. One says yes to it no more."""
        body = self._body(to=to, note=note)
        await self._transport.fetch(teams.Routed, Call("POST", _of(request_id, "delegate"), body))

    async def route(self, request_id: str, candidates: Sequence[str], note: str = "") -> None:
        """Put it to more people, as `group:NAME` and `person:NAME`. For admins, who become no candidates by that."""
        body = self._body(**{"from": list(candidates), "note": note})
        await self._transport.fetch(teams.Routed, Call("POST", _of(request_id, "route"), body))

    async def withdraw_vote(self, request_id: str) -> teams.Votes:
        """Take one's yes back, which is possible until the end. What is counted then."""
        call = Call("DELETE", _of(request_id, "vote"))
        return (await self._transport.fetch(teams.VoteWithdrawn, call)).votes

    async def comments(self, request_id: str) -> list[teams.Comment]:
        """The oldest first. Who has a vote to give, and has not given it, reads their own only."""
        return (await self._got(teams.Comments, _of(request_id, "comments"))).comments

    async def comment(self, request_id: str, text: str) -> teams.Comment:
        """Say something to the others; no agent is sent it."""
        return await self._transport.fetch(
            teams.Comment, Call("POST", _of(request_id, "comments"), self._body(text=text))
        )


def _of(request_id: str, what: str = "") -> str:
    return f"{REQUESTS}/{segment(request_id)}{f'/{what}' if what else ''}"
