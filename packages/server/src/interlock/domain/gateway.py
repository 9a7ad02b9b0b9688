"""What a gateway lets through to an MCP server of somebody else: rules by tool, the risk of a call, what is pinned.

What an upstream says of its tools is not trusted, unless the operator says so: a hint may make a call riskier, and
opens nothing by itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Literal, cast
from urllib.parse import urlsplit

from interlock.domain.canonical import digest
from interlock.domain.effect import EffectKey
from interlock.domain.errors import FieldError, InvalidInput
from interlock.domain.json_value import JsonObject, JsonValue
from interlock.domain.policy import Ruling
from interlock.domain.risk import RISK_LEVELS

Rule = Literal["pass", "ask", "deny", "by_hint"]
RULES: tuple[Rule, ...] = ("pass", "ask", "deny", "by_hint")
_RULINGS: Mapping[Rule, Ruling] = {"pass": Ruling.ALLOW, "ask": Ruling.ASK, "deny": Ruling.DENY}
SECRET = "secret:"
UPSTREAM_SECONDS = 60.0
"""How long an upstream may be silent about a call. The wait for a person does not count."""
_FIELDS = ("url", "headers", "command", "env", "tools", "policy", "trust", "risk", "idempotent", "timeout")
_POLICIES: Mapping[str, Mapping[str, Rule]] = {"default": {"*": "ask"}, "by_hint": {"*": "by_hint"}}


@dataclass(frozen=True, slots=True)
class CallTerms:
    """On which terms a call goes to its server."""

    ruling: Ruling
    risk: str | None
    """None: nothing is known of it."""
    is_idempotent: bool
    """Whether it may be sent again when nobody knows whether it took effect."""


@dataclass(frozen=True, slots=True)
class ToolPolicy:
    """The operator's rules for the tools of one upstream. Patterns are tried in their order; the first that fits."""

    tools: Mapping[str, Rule] = field(default_factory=lambda: _POLICIES["default"])
    trust: bool = False
    """Whether the upstream's own hints are believed."""
    risk: Mapping[str, str] = field(default_factory=dict[str, str])
    idempotent: Sequence[str] = ()

    def rule(self, tool: str) -> Rule:
        for pattern, rule in self.tools.items():
            if fnmatchcase(tool, pattern):
                return rule
        return "ask"

    def needs_definition(self, tool: str) -> bool:
        """Whether what upstream says of the tool counts: not where the operator decided by the name alone."""
        return self.rule(tool) not in ("pass", "deny")

    def terms_of(self, tool: str, definition: Mapping[str, JsonValue]) -> CallTerms:
        hints = _hints(definition)
        by_hint, risk = _risk_of_hints(hints)
        rule = self.rule(tool)
        ruling = _RULINGS.get(rule) or (by_hint if self.trust else Ruling.ASK)
        level_of_tool = next((level for pattern, level in self.risk.items() if fnmatchcase(tool, pattern)), None)
        is_named = any(fnmatchcase(tool, pattern) for pattern in self.idempotent)
        is_hinted = self.trust and True in (hints.get("idempotentHint"), hints.get("readOnlyHint"))
        return CallTerms(ruling, level_of_tool or (risk if definition else None), is_named or is_hinted)

    def to_json(self) -> JsonObject:
        return {
            "tools": dict(self.tools), "trust": self.trust, "risk": dict(self.risk), "idempotent": list(self.idempotent)
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class UpstreamSettings:
    """One server behind the gateway, as the operator's file names it."""

    name: str
    policy: ToolPolicy
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    command: Sequence[str] = ()
    env: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)
    timeout: float = UPSTREAM_SECONDS


def definition_digest(upstream: str, definition: Mapping[str, JsonValue]) -> str:
    """By which a tool is known again: all that upstream says of it."""
    return digest({"upstream": upstream, "definition": dict(definition)})


def _hints(definition: Mapping[str, JsonValue]) -> Mapping[str, JsonValue]:
    annotations = definition.get("annotations")
    return cast("Mapping[str, JsonValue]", annotations) if isinstance(annotations, Mapping) else {}


def _risk_of_hints(hints: Mapping[str, JsonValue]) -> tuple[Ruling, str]:
    """What is not said counts as the riskier."""
    if hints.get("readOnlyHint") is True:
        return Ruling.ALLOW, "low"
    level = RISK_LEVELS.index("medium" if hints.get("destructiveHint") is False else "high")
    return Ruling.ASK, RISK_LEVELS[level + (hints.get("openWorldHint") is not False)]


class _Faults:
    """Every fault of the file, each where it stands."""

    def __init__(self) -> None:
        self.errors: list[FieldError] = []

    def add(self, where: str, message: str) -> None:
        self.errors.append(FieldError(where, "gateway", f"{where}: {message}"))

    def check_known(self, where: str, word: str, words: Sequence[str]) -> bool:
        if word in words:
            return True
        near = get_close_matches(word, words, 1)
        hint = f"is {near[0]} meant?" if near else f"there are {', '.join(words)}"
        self.add(where, f"{word!r} is not known; {hint}")
        return False

    def mapping(self, where: str, value: JsonValue) -> Mapping[str, JsonValue]:
        if not isinstance(value, Mapping):
            self.add(where, "it must be a mapping")
            return {}
        return {str(key): one for key, one in cast("Mapping[JsonValue, JsonValue]", value).items()}

    def texts(self, where: str, value: JsonValue) -> list[str]:
        items = cast("list[JsonValue]", value) if isinstance(value, list) else []
        if not isinstance(value, list) or not all(isinstance(one, str) for one in items):
            self.add(where, "it must be a list of texts")
            return []
        return [str(one) for one in items]

    def raise_any(self) -> None:
        if self.errors:
            raise InvalidInput("; ".join(error.message for error in self.errors), self.errors)


def read_upstreams(given: JsonValue, secrets: Mapping[str, str]) -> tuple[UpstreamSettings, ...]:
    """The upstreams of a gateway's file; `InvalidInput` with every fault. `secrets` are what `secret:NAME` means."""
    faults = _Faults()
    upstreams = [
        _upstream(faults, name, faults.mapping(name, entry), secrets)
        for name, entry in faults.mapping("the file", given).items()
    ]
    faults.raise_any()
    return tuple(upstreams)


def read_policy(given: Mapping[str, JsonValue]) -> ToolPolicy:
    """The rules alone, for who has an upstream elsewhere."""
    faults = _Faults()
    policy = _policy(faults, "policy", given)
    faults.raise_any()
    return policy


def _upstream(
    faults: _Faults, name: str, entry: Mapping[str, JsonValue], secrets: Mapping[str, str]
) -> UpstreamSettings:
    if not name.replace("-", "").replace("_", "").isalnum() or not name.isascii():
        faults.add(name, "a name is of letters, digits, - and _: it stands in the address /mcp/g/NAME")
    for key in entry:
        faults.check_known(name, key, _FIELDS)
    url, command = entry.get("url"), entry.get("command")
    if (url is None) == (command is None):
        faults.add(name, "it needs either url or command")
    if url is not None and (not isinstance(url, str) or urlsplit(url).scheme not in ("http", "https")):
        faults.add(f"{name}.url", "it must be the address of the server's endpoint: https://host/mcp")
    words = [] if command is None else faults.texts(f"{name}.command", command)
    if command is not None and not words:
        faults.add(f"{name}.command", "it must be a list of the program and its arguments")
    seconds = entry.get("timeout", UPSTREAM_SECONDS)
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or not 0 < seconds <= 86_400:
        faults.add(f"{name}.timeout", "it must be a number of seconds above 0")
        seconds = UPSTREAM_SECONDS
    return UpstreamSettings(
        name,
        _policy(faults, name, entry),
        url if isinstance(url, str) else None,
        _values(faults, f"{name}.headers", entry.get("headers") or {}, secrets),
        words,
        _values(faults, f"{name}.env", entry.get("env") or {}, secrets),
        float(seconds),
    )


def _values(faults: _Faults, where: str, given: JsonValue, secrets: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for name, value in faults.mapping(where, given).items():
        text = str(value) if isinstance(value, str | int | float) else ""
        if not text:
            faults.add(f"{where}.{name}", "it must be a text")
        before, is_secret, secret = text.partition(SECRET)
        if is_secret and secret not in secrets:
            faults.add(f"{where}.{name}", f"there is no secret {secret!r}: set it in the environment of the server")
        values[name] = f"{before}{secrets.get(secret, '')}" if is_secret else text
    return values


def _policy(faults: _Faults, where: str, entry: Mapping[str, JsonValue]) -> ToolPolicy:
    tools: dict[str, Rule] = {}
    policy = entry.get("policy")
    for pattern, rule in faults.mapping(f"{where}.tools", entry.get("tools") or {}).items():
        if faults.check_known(f"{where}.tools.{pattern}", str(rule), RULES):
            tools[pattern] = cast("Rule", rule)
    if policy is not None and faults.check_known(f"{where}.policy", str(policy), tuple(_POLICIES)):
        tools |= {pattern: rule for pattern, rule in _POLICIES[str(policy)].items() if pattern not in tools}
    trust = entry.get("trust", False)
    if not isinstance(trust, bool):
        faults.add(f"{where}.trust", "it must be true or false")
    risk: dict[str, str] = {}
    for pattern, level in faults.mapping(f"{where}.risk", entry.get("risk") or {}).items():
        if faults.check_known(f"{where}.risk.{pattern}", str(level), RISK_LEVELS):
            risk[pattern] = str(level)
    idempotent = faults.texts(f"{where}.idempotent", entry.get("idempotent") or [])
    return ToolPolicy(tools or dict(_POLICIES["default"]), trust is True, risk, idempotent)


TASK = "mcp:"
"""Before the upstream's name, in the place of a graph's task."""


@dataclass(frozen=True, slots=True)
class UpstreamCall:
    """A call of a tool of an upstream whose end is not known yet: it runs now, or nobody knows how it ended."""

    id: str
    asker_id: str
    thread_id: str
    upstream: str
    digest: str
    """Of the upstream, the tool, its definition, the arguments and the conversation: the same call has the same."""
    holder: str
    """Who runs it, or waits for a word on it."""
    until: datetime
    """Until when the holder is believed to be alive."""
    doubt_id: str | None = None
    """The request by which people were asked what became of it."""

    @property
    def key(self) -> EffectKey:
        return EffectKey(self.thread_id, f"{TASK}{self.upstream}", self.id)


@dataclass(frozen=True, slots=True)
class ToolPin:
    """The definition of a tool that a person last approved a call of."""

    owner_id: str
    upstream: str
    tool: str
    digest: str
