"""The checker notices each kind of wrong history, and says which: one that is right is broken in one place."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from tests.campaign.checker import check, violations
from tests.campaign.history import Asked, Call, Came, Effect, Ending, Entry, Frame, History, Segment, Verb
from tests.campaign.log_model import ANEW, PIECE

YES, NO = "ann: accept", "bob: reject because-1"
LOG = (
    Frame("2", "interrupt r1"),
    Frame("3", "tool/start c1"),
    Frame("4", "tool/end c1"),
    Frame("6", "error"),
    Frame("6", "end"),
)
Break = Callable[[list[Entry]], object]


def call(
    verb: Verb, who: str, value: str, at: tuple[float, float | None], came: Came = "accepted", told: str = ""
) -> Call:
    about = "t1" if verb == "say" else "r1"
    return Call(0, who, "threads", verb, about, value, at[0], at[1], came, told)


def right() -> list[Entry]:
    """Ann says a thing, twice since the first got no reply; she and Bob answer at once, and the first stream breaks."""
    return [
        call("say", "ann", "m1", (0.0, None), "unknown"),
        call("say", "ann", "m2", (1.0, 2.0)),
        Asked("r1", "t1", "approval", "deploy"),
        call("look", "ann", "", (2.0, 2.5), told="pending"),
        call("answer", "ann", YES, (3.0, 5.0)),
        call("answer", "bob", NO, (3.1, 4.9), "lost", told=YES),
        call("answer", "bob", "bob: reject because-2", (3.2, None), "unknown"),
        call("look", "bob", "", (3.3, 3.4), told="pending"),
        call("look", "bob", "", (9.0, 9.1), told=YES),
        Segment("f1", "threads", "t1", "0", [*LOG[:2], Frame("3.1", PIECE)]),
        Segment("f1", "threads", "t1", "3.1", list(LOG[2:])),
        Effect("deploy", "t1", 1, 1),
        Ending("t1", "idle", ("m2",), {"threads": LOG}),
    ]


def history_of(entries: list[Entry]) -> History:
    history = History()
    for entry in entries:
        history.add(entry)
    return history


def find(entries: list[Entry], *, came: str) -> Call:
    return next(one for one in entries if isinstance(one, Call) and one.verb == "answer" and one.came == came)


def exchange(entries: list[Entry], kind: type[Entry], **fields: object) -> None:
    """In the last one of that kind."""
    place = max(number for number, one in enumerate(entries) if isinstance(one, kind))
    entries[place] = replace(entries[place], **fields)  # pyright: ignore[reportArgumentType]


def accept_a_second_answer(entries: list[Entry]) -> None:
    find(entries, came="lost").came = "accepted"


def accept_the_same_answer_again(entries: list[Entry]) -> None:
    entries.append(call("answer", "ann", YES, (6.0, 7.0)))


def tell_a_loser_of_another_winner(entries: list[Entry]) -> None:
    find(entries, came="lost").told = "cyd: accept"


def forget_the_answer(entries: list[Entry]) -> None:
    exchange(entries, Call, told="pending")


def settle_nothing(entries: list[Entry]) -> None:
    find(entries, came="accepted").came = "unknown"
    find(entries, came="lost").came = "unknown"
    exchange(entries, Call, told="pending")


def settle_with_what_nobody_sent(entries: list[Entry]) -> None:
    entries.remove(find(entries, came="accepted"))


def settle_with_what_was_refused(entries: list[Entry]) -> None:
    find(entries, came="accepted").came = "refused"


def tell_of_an_answer_too_early(entries: list[Entry]) -> None:
    find(entries, came="accepted").sent = 4.95


def open_a_settled_request_again(entries: list[Entry]) -> None:
    entries.insert(-4, call("look", "bob", "", (6.0, 6.1), told="pending"))


def hide_the_request(entries: list[Entry]) -> None:
    for one in [one for one in entries if isinstance(one, Call) and one.verb == "look"]:
        entries.remove(one)


def lose_a_message(entries: list[Entry]) -> None:
    exchange(entries, Ending, said=())


def take_a_message_twice(entries: list[Entry]) -> None:
    exchange(entries, Ending, said=("m1", "m2", "m1"))


def take_a_refused_message(entries: list[Entry]) -> None:
    entries.append(call("say", "ann", "m3", (6.0, 7.0), "refused"))
    exchange(entries, Ending, said=("m2", "m3"))


def leave_out_an_entry(entries: list[Entry]) -> None:
    exchange(entries, Segment, frames=list(LOG[3:]))


def repeat_an_entry(entries: list[Entry]) -> None:
    exchange(entries, Segment, frames=list(LOG[1:]))


def swap_entries(entries: list[Entry]) -> None:
    exchange(entries, Segment, frames=[LOG[3], LOG[2], LOG[4]])


def jump_back_in_pieces(entries: list[Entry]) -> None:
    exchange(entries, Segment, frames=[LOG[2], *(Frame(f"4.{number}", PIECE) for number in (3, 2)), *LOG[3:]])


def begin_anew_without_a_word(entries: list[Entry]) -> None:
    exchange(entries, Segment, frames=[LOG[2], *(Frame(f"4.{number}", PIECE) for number in (1, 2, 1)), *LOG[3:]])


def swap_frames_of_one_entry(entries: list[Entry]) -> None:
    exchange(entries, Segment, frames=[LOG[2], LOG[4], LOG[3]])


def tell_what_is_not_logged(entries: list[Entry]) -> None:
    exchange(entries, Segment, frames=[LOG[2], Frame("5", "tool/end c9"), *LOG[3:]])


def stop_a_stream_early(entries: list[Entry]) -> None:
    exchange(entries, Segment, frames=[LOG[2]])


def disorder_the_log(entries: list[Entry]) -> None:
    exchange(entries, Ending, logs={"threads": (LOG[1], LOG[0], *LOG[2:])})


def never_end(entries: list[Entry]) -> None:
    exchange(entries, Ending, status="running")


def fail_a_run(entries: list[Entry]) -> None:
    exchange(entries, Ending, failures=("it broke",))


def lose_the_thread(entries: list[Entry]) -> None:
    entries.pop()


def double_the_effect(entries: list[Entry]) -> None:
    exchange(entries, Effect, count=2, results=2)


def do_what_was_refused(entries: list[Entry]) -> None:
    for one in [one for one in entries if isinstance(one, Call) and one.verb != "say"]:
        one.value = NO if one.value == YES else one.value
        one.told = NO if one.told == YES else one.told


def hide_a_doubt(entries: list[Entry]) -> None:
    exchange(entries, Effect, results=0)


def never_do_it(entries: list[Entry]) -> None:
    exchange(entries, Effect, count=0, results=0)


BROKEN: dict[Break, str] = {
    accept_a_second_answer: "two answers were accepted",
    accept_the_same_answer_again: "two answers were accepted",
    tell_a_loser_of_another_winner: "clients were told different winners",
    forget_the_answer: "an acknowledged answer was lost",
    settle_nothing: "a request was never settled",
    settle_with_what_nobody_sent: "the answer that counts was sent by nobody",
    settle_with_what_was_refused: "the answer that counts was sent by nobody",
    tell_of_an_answer_too_early: "somebody was told of an answer before it was sent",
    open_a_settled_request_again: "a request was open again after it had been settled",
    hide_the_request: "a request that was shown is gone",
    lose_a_message: "an acknowledged message was lost",
    take_a_message_twice: "a message was taken twice",
    take_a_refused_message: "a message that was refused was taken",
    leave_out_an_entry: "a stream has a gap",
    repeat_an_entry: "a stream repeats an entry over a reconnect",
    swap_entries: "a stream is out of order",
    jump_back_in_pieces: "a stream is out of order",
    begin_anew_without_a_word: "a stream is out of order",
    swap_frames_of_one_entry: "a stream is out of order",
    tell_what_is_not_logged: "a stream told what is not in the log",
    stop_a_stream_early: "a stream did not come to the end of the log",
    disorder_the_log: "the log is not in order at threads",
    never_end: "a thread never came to its end",
    fail_a_run: "a run failed",
    lose_the_thread: "a thread that was followed is gone",
    double_the_effect: "an effect was doubled",
    do_what_was_refused: "what nobody approved was done",
    hide_a_doubt: "an effect is in doubt, and nobody was asked",
    never_do_it: "what was approved was never done",
}


@pytest.mark.parametrize("break_it", BROKEN, ids=lambda one: one.__name__)
def test_a_history_that_is_wrong_in_one_place_is_called_that(break_it: Break) -> None:
    entries = right()
    break_it(entries)
    found = violations(history_of(entries))
    assert BROKEN[break_it] in [one.what for one in found]
    with pytest.raises(AssertionError, match=f"(?s)seed 17: .*\n{BROKEN[break_it]}: (r1|t1|deploy)\n"):
        check(history_of(entries), 17)


def test_a_right_history_passes_also_once_it_was_written_and_read(tmp_path: Path) -> None:
    history = history_of(right())
    history.write(tmp_path / "history.jsonl")
    read = History.read(tmp_path / "history.jsonl")
    assert read.entries == history.entries
    check(read, 17)


def answer_without_a_reply(entries: list[Entry]) -> None:
    """It counted all the same, and everybody else says so."""
    find(entries, came="accepted").came = "unknown"


def answer_without_a_reply_in_vain(entries: list[Entry]) -> None:
    entries.append(call("answer", "ann", "ann: reject because-3", (2.6, None), "unknown"))


def message_without_a_reply(entries: list[Entry]) -> None:
    exchange(entries, Ending, said=("m1", "m2"))


def the_same_reply_again(entries: list[Entry]) -> None:
    entries.append(replace(call("answer", "ann", YES, (6.0, 7.0)), repeats=True))


def retried_by_a_person(entries: list[Entry]) -> None:
    """It was done before the crash and after it, as a person said."""
    entries += [
        Asked("r2", "t1", "doubt", "deploy"),
        replace(call("answer", "ann", "ann: retry", (6.0, 7.0)), about="r2"),
        replace(call("look", "ann", "", (9.0, 9.1), told="ann: retry"), about="r2"),
    ]
    exchange(entries, Effect, count=2, results=1)


def pieces_of_a_run_that_begins_anew(entries: list[Entry]) -> None:
    pieces = [Frame(f"4.{number}", ANEW if anew else PIECE) for number, anew in ((1, 0), (2, 0), (1, 1), (2, 0))]
    exchange(entries, Segment, frames=[LOG[2], *pieces, *LOG[3:]])


def left_undone_by_a_person(entries: list[Entry]) -> None:
    retried_by_a_person(entries)
    exchange(entries, Effect, count=0, results=0)


@pytest.mark.parametrize(
    "vary",
    [
        answer_without_a_reply,
        answer_without_a_reply_in_vain,
        message_without_a_reply,
        the_same_reply_again,
        retried_by_a_person,
        left_undone_by_a_person,
        pieces_of_a_run_that_begins_anew,
    ],
    ids=lambda one: one.__name__,
)
def test_what_may_be_either_way_passes_both_ways(vary: Break) -> None:
    entries = right()
    vary(entries)
    check(history_of(entries), 17)
