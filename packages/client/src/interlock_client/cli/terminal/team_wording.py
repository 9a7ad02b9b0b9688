"""Where a request stands with its people, in the words of the pages and in their two languages."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Literal

from interlock_client.cli.terminal.open_request import OpenRequest
from interlock_client.cli.terminal.wording import moment, one_line
from interlock_client.teams import Claim, Comment, People

Language = Literal["en", "zh"]

TEXTS: Mapping[str, Mapping[Language, str]] = {
    "title": {"en": "WHO DECIDES", "zh": "由谁决定"},
    "needs.one": {"en": "Put to {who}: one answer is enough.", "zh": "交给 {who}：一人答复即可。"},
    "needs": {"en": "Needs the yes of {people} people of {who}.", "zh": "需要 {who} 中 {people} 人同意。"},
    "needs.anybody.one": {"en": "One answer is enough.", "zh": "一人答复即可。"},
    "needs.anybody": {
        "en": "Needs the yes of {people} people who may answer here.",
        "zh": "需要 {people} 位可在此答复的人同意。",
    },
    "separate": {"en": "Whoever asked does not count.", "zh": "发起者不计入。"},
    "left out": {
        "en": "{people} people decide this together: no edits, replies or remembered answers.",
        "zh": "由 {people} 人共同决定：不能修改、回复或记住答复。",
    },
    "yes": {"en": "{yes} of {needed} have said yes.", "zh": "已有 {yes} / {needed} 人同意。"},
    "no": {"en": "{count} refused.", "zh": "{count} 人已拒绝。"},
    "blind": {"en": "You see who, once you have decided yourself.", "zh": "你作出决定后，才会看到是谁。"},
    "hidden": {
        "en": "Names are shown to those who have voted, and when it is decided.",
        "zh": "投票者的名字仅向已投票的人显示，决定后公开。",
    },
    "said yes": {"en": "✓ {by} said yes at {time}", "zh": "✓ {by} 于 {time} 同意"},
    "said no": {"en": "✗ {by} refused at {time}", "zh": "✗ {by} 于 {time} 拒绝"},
    "level": {
        "en": "Nobody decided in time, so more people were asked ({number} of {of}).",
        "zh": "无人及时决定，因此又询问了更多人（第 {number} / {of} 级）。",
    },
    "code": {"en": "A yes repeats the code {code}.", "zh": "同意时须输入验证码 {code}。"},
    "yes is in": {"en": "Your yes is in. {yes} of {needed}.", "zh": "你的同意已记下：{yes} / {needed}。"},
    "full": {
        "en": "Enough have said yes, but who may decide has changed: it waits for one more yes, maybe yours again.",
        "zh": "同意的人数已够，但之后可决定的人有变化，因此还需再确认一次；已同意的人也可以确认。",
    },
    "no is in": {
        "en": "Your refusal is in. It takes more than one to end this; you can still approve.",
        "zh": "你的拒绝已记下。需要不止一人拒绝才会结束；你仍可批准。",
    },
    "taken back": {"en": "Your yes is taken back. {yes} of {needed}.", "zh": "你的同意已撤回：{yes} / {needed}。"},
    "bar.asked": {
        "en": "You asked for this, so your yes does not count.",
        "zh": "这是你发起的，因此你的同意不计入。",
    },
    "bar.askedOrPassedOn": {
        "en": "You asked for this or passed it on, so your yes does not count.",
        "zh": "这是你发起或转交的，因此你的同意不计入。",
    },
    "bar.passedOn": {
        "en": "You passed this on, so your yes no longer counts.",
        "zh": "你已转交此请求，因此你的同意不再计入。",
    },
    "bar.named": {"en": "You cannot approve this: it is put to {who}.", "zh": "你不能批准：此请求交给了 {who}。"},
    "bar.others": {
        "en": "You cannot approve this: it is for those who answer in this conversation.",
        "zh": "你不能批准：此请求由可在此对话中答复的人决定。",
    },
    "no refusal": {
        "en": "Who asked, those it is put to, and admins can refuse it or end it.",
        "zh": "只有发起者、被询问的人和管理员可以拒绝或结束此请求。",
    },
    "claim mine": {
        "en": "You have it until {time}. Others can still answer.",
        "zh": "由你处理至 {time}。其他人仍可答复。",
    },
    "claim of": {"en": "{by} has it until {time}.", "zh": "{by} 正在处理，至 {time}。"},
    "still": {"en": "You can still answer.", "zh": "你仍可答复。"},
    "claimed": {"en": "You have it now, until {time}; others see that.", "zh": "已由你处理至 {time}，其他人可以看到。"},
    "released": {"en": "Released.", "zh": "已放开。"},
    "over": {
        "en": "{by} has this until {time}. Answer all the same?",
        "zh": "{by} 正在处理此请求，至 {time}。仍要答复吗？",
    },
    "pass on to": {"en": "Pass this on. To whom?", "zh": "转交此请求。用户名："},
    "pass on note": {
        "en": "Pass this on to {name}. A note, for the record? You can no longer say yes to it afterwards.",
        "zh": "转交给 {name}。备注（选填，会留下记录）？之后你不能再同意此请求。",
    },
    "passed on": {"en": "Passed on to {name}.", "zh": "已转交给 {name}。"},
    "comments": {"en": "COMMENTS", "zh": "评论"},
    "blind comments": {
        "en": "You see what others wrote once you have decided yourself.",
        "zh": "你作出决定后，才会看到别人写的内容。",
    },
    "say": {
        "en": "Write to the others. For people only; no agent is sent it.",
        "zh": "写给其他人。仅供人员查看，不会发送给智能体。",
    },
    "commented": {"en": "Your comment is sent.", "zh": "评论已发送。"},
    "failed": {"en": "Could not do that: {message}", "zh": "操作未成功：{message}"},
    "nobody named": {
        "en": "It is put to nobody by name: whoever may answer it does.",
        "zh": "此请求没有指定人员：可答复的人都可以答复。",
    },
    "key.claim": {"en": "I have it", "zh": "我来处理"},
    "key.keep": {"en": "keep it longer", "zh": "延长"},
    "key.release": {"en": "release", "zh": "放开"},
    "key.comment": {"en": "comment", "zh": "评论"},
    "key.pass on": {"en": "pass on", "zh": "转交"},
    "key.take back": {"en": "take my yes back", "zh": "撤回我的同意"},
    "whose": {"en": "Whose?", "zh": "归谁？"},
    "whose.all": {"en": "Everyone's", "zh": "全部"},
    "whose.me": {"en": "For me", "zh": "需要我处理"},
    "whose.claimed": {"en": "Claimed by me", "zh": "我正在处理"},
    "whose.group": {"en": "For {name}", "zh": "用户组 {name}"},
    "row.claim": {"en": "{by} has it", "zh": "{by} 正在处理"},
    "row.mine": {"en": "you have it", "zh": "你正在处理"},
}
GROUP = "group:"


def language_of(locale: str) -> Language:
    return "zh" if locale.lower().startswith("zh") else "en"


class TeamWording:
    def __init__(self, language: Language) -> None:
        self._language: Language = language

    def text(self, key: str, **values: object) -> str:
        return TEXTS[key][self._language].format(**values)

    def whose(self, whom: str) -> str:
        """A choice of whose requests are listed."""
        if whom.startswith(GROUP):
            return self.text("whose.group", name=one_line(whom.removeprefix(GROUP)))
        return self.text(f"whose.{whom}")

    def state(self, people: People) -> Iterator[str]:
        """Whom it needs, how far they have come, and who has it."""
        yield self._needs(people)
        if people.votes is not None:
            refusals = f" {self.text('no', count=people.votes.refusals)}" if people.votes.refusals else ""
            blind = "" if people.own_vote else f" {self.text('blind' if people.may_answer else 'hidden')}"
            yield f"{self.text('yes', yes=people.votes.yes, needed=people.votes.needed)}{refusals}{blind}"
        for one in people.voters:
            yield self.text("said yes" if one.yes else "said no", by=one_line(one.by), time=moment(one.at))
        if people.level is not None and people.level.number > 0:
            yield self.text("level", number=people.level.number, of=people.level.of)
        if claim := claim_of(people):
            yield self._claim(claim, people)

    def _needs(self, people: People) -> str:
        needs, who = people.needs, who_of(people)
        key = "needs" if who else "needs.anybody"
        sentence = self.text(key if needs.people > 1 else f"{key}.one", who=who, people=needs.people)
        return f"{sentence} {self.text('separate')}" if needs.separate else sentence

    def _claim(self, claim: Claim, people: People) -> str:
        if claim.mine:
            return self.text("claim mine", time=moment(claim.until))
        still = f" {self.text('still')}" if people.may_answer else ""
        return f"{self.text('claim of', by=one_line(claim.by), time=moment(claim.until))}{still}"

    def own(self, waiting: OpenRequest, me: str) -> Iterator[str]:
        """What the reader may not do, and why; and what they have said already."""
        people = waiting.people
        if people is None:
            return
        if not people.may_answer:
            yield self.text(f"bar.{_bar(waiting, people, me)}", who=who_of(people))
        elif people.votes is not None and people.own_vote is None and waiting.kind == "approval":
            yield self.text("left out", people=people.needs.people)
        if is_full(people) and people.may_answer:
            yield self.text("full")
        elif people.own_vote == "no":
            yield self.text("no is in")
        elif people.own_vote == "yes" and people.votes is not None:
            yield self.text("yes is in", yes=people.votes.yes, needed=people.votes.needed)
        if people.may_answer and waiting.code:
            yield self.text("code", code=waiting.code)

    def brief(self, people: People, now: datetime) -> str:
        """In one line: whom it needs, how far they have come, who has it, and whether the reader may say yes."""
        parts = [self._needs(people)]
        if people.votes is not None:
            parts.append(self.text("yes", yes=people.votes.yes, needed=people.votes.needed))
        if claim := claim_of(people, now):
            parts.append(self._claim(claim, people))
        if not people.may_answer:
            parts.append(self.text(f"bar.{_bar(None, people, '')}", who=who_of(people)))
        return " ".join(parts)

    def comments(self, found: list[Comment]) -> Iterator[str]:
        for one in found:
            yield f"{one_line(one.by)} · {moment(one.at)}"
            yield one.text

    def mark(self, people: People | None, now: datetime) -> str:
        """In a row of the list: how many have said yes, and who has it."""
        if people is None:
            return ""
        votes = f"{people.votes.yes}/{people.votes.needed}" if people.votes else ""
        claim = claim_of(people, now)
        by = "" if claim is None else self.text("row.mine" if claim.mine else "row.claim", by=one_line(claim.by))
        return ", ".join(part for part in (votes, by) if part)


def claim_of(people: People | None, now: datetime | None = None) -> Claim | None:
    """A claim that is over is none: nothing has to happen for that."""
    claim = people.claim if people else None
    return claim if claim is not None and claim.until > (now or datetime.now(UTC)) else None


def is_full(people: People) -> bool:
    """Whether all places are filled; of what waits still, by something else than a yes."""
    return people.votes is not None and people.votes.yes >= people.votes.needed


def who_of(people: People) -> str:
    """The names of whom it is put to, without what they are."""
    return ", ".join(one_line(one.partition(":")[2]) for one in people.needs.candidates)


def _bar(waiting: OpenRequest | None, people: People, me: str) -> str:
    if people.needs.separate and waiting is not None and me and waiting.owner == me:
        return "asked"
    if people.excluded:
        return "askedOrPassedOn" if people.needs.separate else "passedOn"
    return "named" if people.needs.candidates else "others"
