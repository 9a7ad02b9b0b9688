"""The hook itself: what an agent says on standard input, put to a person; the answer in the agent's words.

Whatever fails is a refusal. An empty answer is given only where the agent then asks at its terminal, and only when
that was wanted.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from interlock_client.hook.asking import PATIENCE, SLACK, Ask, NotAsked, Server, withdraw
from interlock_client.hook.call import (
    AGENTS,
    Call,
    Host,
    Malformed,
    Outcome,
    Reply,
    SettlingHost,
    digest,
    object_of,
    refusal,
)
from interlock_client.hook.notes import Note, Notes
from interlock_client.hook.requests import (
    AT_TERMINAL,
    GONE,
    SHORTEST,
    TIMED_OUT,
    AnswerMismatch,
    Json,
    TimedOut,
    body_of,
    call_of,
    outcome_of,
)
from interlock_client.hook.settings import Misconfigured, load, notes_folder

LAST_MOMENT = 3.0
"""Seconds before the agent's timeout, when everything else should be over."""
TIMEOUT = 600.0
"""What agents give a hook where nothing else is said."""


class Stopped(BaseException):
    """The agent no longer waits."""


class Options(NamedTuple):
    agent: str
    timeout: float
    to_terminal: bool = False
    """Whether a call that nobody decided is left to the agent's terminal, where it asks there."""
    defers: bool = False
    """Whether the agent is told to come again later, in place of waiting."""
    settled: bool = False
    """Whether the event tells the end of something that was asked before."""


def options_of(arguments: Sequence[str]) -> Options:
    return _installed_options(arguments) or _parse(arguments)


def _installed_options(arguments: Sequence[str]) -> Options | None:
    """The options as `install` writes them, without what a parser takes to load; None for all else."""
    agent, *rest = arguments
    given: dict[str, str] = {}
    while rest:
        name = rest.pop(0)
        if name in given or (name in ("--timeout", "--on-timeout") and not rest):
            return None
        given[name] = rest.pop(0) if name in ("--timeout", "--on-timeout") else ""
    seconds, when = given.pop("--timeout", f"{TIMEOUT:g}"), given.pop("--on-timeout", "deny")
    if agent not in AGENTS or not (seconds.isascii() and seconds.isdecimal()) or when not in ("deny", "terminal"):
        return None
    if given.keys() - {"--defer", "--settled"}:
        return None
    return Options(agent, float(seconds), when == "terminal", "--defer" in given, "--settled" in given)


def _parse(arguments: Sequence[str]) -> Options:
    import argparse

    parser = argparse.ArgumentParser("interlock-hook", allow_abbrev=False)
    parser.add_argument("agent", choices=AGENTS)
    parser.add_argument("--timeout", type=float, default=TIMEOUT, help="of the agent for its hook, in seconds")
    parser.add_argument("--on-timeout", choices=("deny", "terminal"), default="deny", help="when nobody has answered")
    parser.add_argument("--defer", action="store_true", help="end the run, and take the answer when it is resumed")
    parser.add_argument("--settled", action="store_true", help="withdraw what was answered at the terminal")
    given = parser.parse_args(arguments)
    return Options(given.agent, given.timeout, given.on_timeout == "terminal", given.defer, given.settled)


def gate(host: Host, options: Options) -> int:
    """Ask about the call on standard input; the exit code."""
    began = time.monotonic()
    _on_signals(_stop)
    _watch(options.timeout)
    if os.name == "posix":
        _watch_agent()
    call, asked_call = None, None
    try:
        call = host.read(read_event())
        asked_call = AskedCall(host, call, options, began)
        outcome = asked_call.outcome()
    except BaseException as error:
        outcome = Outcome(_without_answer(options, error), _why(error))
    _disarm()
    is_heard, code = True, 2
    try:
        code = put(host.reply(call, outcome) if call else refusal(outcome.message))
    except OSError:
        is_heard = False
    if asked_call is not None:
        asked_call.close(is_heard=is_heard)
    return code


def _on_signals(handler: Any) -> None:
    for name in ("SIGTERM", "SIGINT", "SIGHUP"):
        if number := getattr(signal, name, None):
            signal.signal(number, handler)


def _watch(seconds: float) -> None:
    """Whatever holds us up then, such as a reply that comes byte by byte: the answer is in time."""
    if hasattr(signal, "setitimer"):
        signal.signal(signal.SIGALRM, _time_out)
        signal.setitimer(signal.ITIMER_REAL, max(seconds - LAST_MOMENT, SHORTEST) if seconds else 0)


def _watch_agent() -> None:
    """An agent that is killed stops no hook; but from then on nobody reads what the hook says."""
    # Not with a module of its own, which takes time to load.
    from _thread import get_ident, start_new_thread
    from select import POLLERR, POLLHUP
    from select import poll as new_poll

    poll, main = new_poll(), get_ident()
    poll.register(1, 0)

    def look() -> None:
        if any(event & (POLLERR | POLLHUP) for _, event in poll.poll()):
            signal.pthread_kill(main, signal.SIGTERM)

    # Signals are for the main thread: one that came to the other would not wake it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    start_new_thread(look, ())
    signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _time_out(*_: object) -> None:
    raise TimedOut


def _stop(*_: object) -> None:
    _disarm()
    raise Stopped


def _disarm() -> None:
    """What ends this process from now on ends it in the middle of an answer, or of taking back what was asked."""
    _on_signals(signal.SIG_IGN)
    _watch(0)


def _without_answer(options: Options, error: BaseException) -> Any:
    return "silence" if options.to_terminal and isinstance(error, TimedOut | NotAsked | Misconfigured) else "deny"


def _why(error: BaseException) -> str:
    match error:
        case Stopped():
            return "Not run: the hook was stopped before a person had answered."
        case TimedOut():
            return TIMED_OUT
        case Malformed():
            return f"Not run: the hook does not understand what it was given: {error}."
        case NotAsked() | Misconfigured() | AnswerMismatch():
            return f"Not run: no person could be asked: {error}"
        case _:
            return f"Not run: the hook failed ({type(error).__name__}: {error})."


def read_event() -> Mapping[str, Any]:
    try:
        event = object_of(json.loads(sys.stdin.buffer.read()))
    except ValueError as error:
        raise Malformed(f"not JSON ({error})") from error
    if event is None:
        raise Malformed("not an object")
    return event


def put(reply: Reply) -> int:
    if reply.stdout:
        sys.stdout.write(reply.stdout + "\n")
        sys.stdout.flush()
    if reply.stderr:
        sys.stderr.write(reply.stderr)
        sys.stderr.flush()
    return reply.code


class AskedCall:
    """One call, put to a person."""

    def __init__(self, host: Host, call: Call, options: Options, began: float) -> None:
        self._call = call
        self._defers = options.defers
        key = digest(host.AGENT, call.session, call.call_id) if call.call_id else os.urandom(32).hex()
        until = began + max(options.timeout - SLACK, SHORTEST)
        self._ask = Ask(Server(load()), body_of(host, call, None if options.defers else options.timeout), key, until)
        # Of the ends of calls others hear nothing, and what nobody reads is not written.
        self._notes = notes_of(host.AGENT, call.session) if hasattr(host, "read_end") else None
        self._note: Note | None = None
        self._is_settled = False

    def outcome(self) -> Outcome:
        call = self._call
        # Who defers is gone before anybody answers: nothing ends with its process.
        if self._notes is not None and not self._defers:
            self._note = self._notes.open(call_of(call), call.prompt, by_subagent=bool(call.subagent))
        self._ask.place()
        if (note := self._note) is not None:
            note.write_request(self._ask.request_id)
            self._ask.is_over = lambda: note.is_settled
        # The reply to an ask that came before is that of the first time, so it is always looked at.
        request = self._ask.look() if self._defers else self._wait_until_settled()
        outcome = outcome_of(call, request)
        self._is_settled = True
        if self._note is not None:
            # Before the agent is told: from then on it may have run.
            self._note.release(call_of(call, outcome.args) if outcome.verdict == "allow" else "")
        return outcome

    def _wait_until_settled(self) -> Json:
        try:
            return self._ask.wait_until_settled()
        except TimedOut:
            if self._ask.withdraw("nobody answered in time"):
                raise
            return self._ask.look()

    def close(self, *, is_heard: bool) -> None:
        """After the agent has its answer: where it came without a person, nobody is to answer any more."""
        if self._is_settled:
            return
        if self._note is not None:
            self._note.release()
        # A no at the terminal stops the hook; a yes does not.
        if is_heard:
            self._ask.withdraw(AT_TERMINAL if self._call.terminal_asks else GONE)
        else:
            # Nobody is there whom that would hold up.
            self._ask.withdraw(GONE, PATIENCE)


def notes_of(agent: str, session: str) -> Notes:
    return Notes(notes_folder() / digest(agent, session)[:32])


def settle(host: SettlingHost) -> int:
    """Withdraw what the event on standard input tells the end of; never in the way of the agent."""
    try:
        end = host.read_end(read_event())
        notes = notes_of(host.AGENT, end.session)
        for request_id in notes.record_end(end):
            withdraw(Server(load()), request_id, AT_TERMINAL)
        if end.is_last:
            notes.forget()
    except Exception as error:
        put(Reply(stderr=f"{_why(error)}\n"))
    return 0
