"""What a person wants, read from one message: steps of tool calls, small talk, or a command that lacks something.

Calls of one step are made at once; a step waits for the one before it ("create a.py, then run it").
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Literal

from interlock.agents.demo.asks import Language
from interlock.agents.demo.builders import Call, Calls, Context
from interlock.agents.demo.grammar import Missing, calls_of, missing_in

Topic = Literal["greeting", "who", "model", "help", "thanks", "bye", "well", "long", "unknown"]


@dataclass(frozen=True, slots=True)
class Plan:
    steps: tuple[Calls, ...]


@dataclass(frozen=True, slots=True)
class Talk:
    topic: Topic


@dataclass(frozen=True, slots=True)
class Incomplete:
    missing: Missing


Wish = Plan | Talk | Incomplete

_LONGEST = 2000
"""Patterns are tried from many places of the text; on a longer one that would hold up the server."""
_TOPICS: Mapping[Topic, str] = {
    "model": (
        r"interlock_model|\b(?:real|which|what|another|other|change)\b.{0,20}\bmodel\b"
        r"|(?:什么|哪个|真正?的?|换)模型"
    ),
    "who": (
        r"\bwho\s+(?:are|r)\s+(?:you|u)\b|\bwhat\s+are\s+you\b|\byour\s+name\b"
        r"|你是谁|你叫什么|你是什么|介绍.{0,4}自己|自我介绍"
    ),
    "help": (
        r"\bhelp\b|\bwhat\s+(?:can\s+(?:you|i)|(?:you|i)\s+can)\b|\bhow\s+do(?:es)?\b|^[?？]+$"
        r"|帮助|你会什么|能干什么|能做什么|可以做什么|怎么用"
    ),
    "well": r"\bhow\s+are\s+you\b|\bhow's\s+it\s+going\b|你好吗|最近怎么样|过得怎么样",
    "thanks": r"\bthank|\bthx\b|\bcheers\b|谢谢|多谢|感谢|辛苦了",
    "bye": r"\b(?:good)?bye\b|\bsee\s+you\b|\bgood\s+night\b|再见|拜拜|回头见|晚安",
    "greeting": (
        r"^\W*(?:hi|hello|hey|howdy|good\s+(?:morning|afternoon|evening))\b"
        r"|你好|您好|嗨|哈喽|早上好|下午好|晚上好|^早"
    ),
}
_POLITE = re.compile(
    r"^[\s,，!！]*+(?:(?:please|pls|now|also|first|next|just|ok(?:ay)?|hey|hi|hello|can\s+you|could\s+you|would\s+you|will\s+you"
    r"|i\s+want\s+(?:you\s+)?to|i(?:'d|\s+would)\s+like\s+(?:you\s+)?to|let's|let\s+us|go\s+ahead\s+and|help\s+me(?:\s+to)?)(?=[\s,，!！:]|$)[\s,:]*"
    r"|(?:请你|请|麻烦你|麻烦|你能不能|能不能|能否|可以|可不可以|你能|帮我|帮忙|给我|替我|我想要|我想|我要|现在|首先|先|你好|您好|嗨|也|一起|同时)"
    r"[\s,，！!]*)",
    re.IGNORECASE,
)
_PROTECTED = re.compile(
    r"""```.*?```|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”|「[^」\n]*」|(?<!\w)'[^'\n]*'(?!\w)|\([^()\n]*\)""", re.DOTALL
)
_THEN = r"\b(?:and\s+then|then|after\s+that|afterwards)\b|然后再|然后|接着|随后|之后|最后|再"
_AND = r"\band\s+also\b|\band\b|\balso\b|\bplus\b|以及|并且|还有|同时|并|和|与|跟"
_JOINT = re.compile(
    rf"(?:[,，、;；。\n]|\.(?=\s))\s*+(?:(?P<then1>{_THEN})|{_AND})?|(?P<then2>{_THEN})|{_AND}", re.IGNORECASE
)
_MOST_JOINTS = 40
_VERBATIM = re.compile(
    r"\b(?:contents?|text|code|with|saying|containing)\s*[:：]|(?:内容|文字|代码|写入|写上)(?:为|是)?\s*[:：]"
    r"|(?:\b(?:run|execute|exec)\b|运行|执行|跑)(?:\s*(?:the\s+|this\s+)?(?:command\b|命令|一下))?\s*[:：]",
    re.IGNORECASE,
)
"""After one of these a text follows that is the person's own to the last letter."""


def language_of(text: str) -> Language:
    return "zh" if re.search(r"[\u4e00-\u9fff]", text) else "en"


def understand(text: str, last_path: str | None = None) -> Wish:
    """What `text` asks for; `last_path` is the file that the conversation was about."""
    text = text.strip()
    if len(text) > _LONGEST:
        return Talk("long")
    context = Context(language_of(text), last_path)
    if steps := _steps(text, context):
        return Plan(steps)
    plain = _plain(text)
    topic = _topic(text)
    # Who asks about the model names INTERLOCK_MODEL, which is no key that is needed.
    if topic != "model" and (calls := calls_of(plain, context, anywhere=True)):
        return Plan((calls,))
    if topic:
        return Talk(topic)
    missing = missing_in(plain)
    return Incomplete(missing) if missing else Talk("unknown")


def _topic(text: str) -> Topic | None:
    for topic, pattern in _TOPICS.items():
        if re.search(pattern, text, re.IGNORECASE):
            return topic
    return None


def _steps(text: str, context: Context) -> tuple[Calls, ...]:
    steps: list[Calls] = []
    for clause, then in _clauses(text, context):
        calls = calls_of(clause, context)
        if calls is None:
            return ()
        if steps and not then and not _depends(calls, steps[-1]):
            steps[-1] += calls
        else:
            steps.append(calls)
        context = _after(calls, context)
    return tuple(steps)


def _clauses(text: str, context: Context) -> Iterator[tuple[str, bool]]:
    """The clauses that make sense by themselves, and whether each waits for the one before it.

    A joint only counts when what follows it is a command of its own: "milk and eggs" is one content.
    """
    masked = _PROTECTED.sub(lambda match: "\ue000" * len(match[0]), text)
    verbatim = _VERBATIM.search(masked)
    end = verbatim.start() if verbatim else len(text)
    start, then = 0, False
    for joint in islice(_JOINT.finditer(masked, 0, end), _MOST_JOINTS):
        before, after = _plain(text[start : joint.start()]), _plain(text[joint.end() :])
        here = calls_of(before, context)
        if here and calls_of(after, _after(here, context)):
            yield before, then
            context = _after(here, context)
            start, then = joint.end(), bool(joint["then1"] or joint["then2"])
    yield _plain(text[start:]), then


def _plain(clause: str) -> str:
    """The clause without the words that are only polite."""
    clause = clause.strip()
    while (match := _POLITE.match(clause)) and match.end() < len(clause):
        clause = clause[match.end() :]
    return clause


def _after(calls: Calls, context: Context) -> Context:
    paths = [call.path for call in calls if call.path]
    return Context(context.language, paths[-1] if paths else context.last_path)


def _depends(calls: Calls, earlier: Calls) -> bool:
    """Whether calls touch a file that an earlier one of the same step makes, changes or removes."""
    touched = {call.path for call in earlier if call.path}
    return any(_speaks_of(call, path) for call in calls for path in touched)


def _speaks_of(call: Call, path: str) -> bool:
    return call.path == path or path in str(call.args.get("command", ""))
