"""Requests answered line by line. An empty line answers nothing."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import typer

from interlock_client.cli.terminal import editing, free
from interlock_client.cli.terminal.open_request import Kind, OpenRequest, is_dangerous, words_to_type
from interlock_client.cli.terminal.prompting import ask_line, ask_secret, show_line, show_numbered, show_section
from interlock_client.cli.terminal.revealing import Line, json_text, line, lines
from interlock_client.cli.terminal.sections import option_line, sections
from interlock_client.cli.terminal.wording import HIGH_RISK, Remember, deadline, heading, one_line, remember_choices

OWN_WORDS = "own words"


class NotAnswered(Exception):
    """The person chose not to answer: it is cancelled."""


class AnsweredElsewhere(Exception):
    """Somebody else answered meanwhile."""


class Inline:
    """Asks one request. `is_over` says whether somebody else has answered it by now."""

    def __init__(self, waiting: OpenRequest, is_over: Callable[[], bool], editor: str | None = None) -> None:
        self._waiting = waiting
        self._is_over = is_over
        self._editor = editor

    def show(self) -> None:
        typer.echo(typer.style(f"\n{heading(self._waiting)}", bold=True))
        for section in sections(self._waiting):
            show_section(section)
        typer.echo(deadline(self._waiting))

    def response(self) -> dict[str, Any]:
        """The answer; `NotAnswered` and `AnsweredElsewhere` where there is none."""
        return _WAYS[self._waiting.kind](self)

    def _line(self, prompt: str) -> str:
        typed = ask_line(prompt)
        if self._is_over():
            raise AnsweredElsewhere
        if typed == "/cancel":
            raise NotAnswered
        return typed

    # Approvals.

    def approval(self) -> dict[str, Any]:
        waiting, verbs = self._waiting, ["no [reason]"]
        verbs += [text for name, text in (("edit", "edit"), ("response", "reply TEXT")) if waiting.allows(name)]
        verbs += ["always"] if len(remember_choices(waiting, allow=True)) > 1 else []
        allow = " or ".join(waiting.words) if waiting.is_risky else "yes"
        verbs = [*([allow] if waiting.allows("accept") else []), *verbs, "/cancel"]
        while True:
            typed = self._line(f"{' | '.join(verbs)} > ")
            word, _, rest = typed.partition(" ")
            if self._is_yes(typed):
                return {"granted": True}
            response = self._other_than_yes(word.lower(), rest.strip())
            if response is not None:
                return response
            if typed:
                typer.echo(f"Not understood. To allow it, type {allow}.")

    def _is_yes(self, typed: str) -> bool:
        waiting = self._waiting
        if not waiting.allows("accept"):
            return False
        return typed in waiting.words if waiting.is_risky else typed.lower() in ("yes", "y")

    def _other_than_yes(self, word: str, rest: str) -> dict[str, Any] | None:
        if word in ("no", "n"):
            return {"granted": False, **({"reason": rest} if rest else {})}
        if word == "reply" and rest and self._waiting.allows("response"):
            return {"granted": False, "reply": rest}
        if word == "edit" and self._waiting.allows("edit"):
            return self._edit()
        if word == "always":
            return self._always()
        return None

    def _always(self) -> dict[str, Any] | None:
        choices = [(True, one) for one in remember_choices(self._waiting, allow=True)[1:]]
        choices += [(False, one) for one in remember_choices(self._waiting, allow=False)[1:]]
        show_numbered([line(one.sentence) for _, one in choices])
        may_raise = any(one.may_raise for _, one in choices)
        hint = "; NUMBER high: also for high-risk calls" if may_raise else ""
        typed, _, high = self._line(f"which, or nothing for none{hint} > ").partition(" ")
        number = self._number(typed, len(choices))
        if number is None or high not in ("", "high"):
            return None
        allow, chosen = choices[number]
        if (allow and not self._waiting.allows("accept")) or (high and not chosen.may_raise):
            return None
        chosen = chosen.with_high_risk() if high else chosen
        words = self._words_for(chosen, allow=allow)
        if self._line(f"{chosen.sentence}? {' or '.join(words)} > ") not in words:
            return None
        return {"granted": allow, **chosen.response}

    def _words_for(self, chosen: Remember, *, allow: bool) -> tuple[str, ...]:
        if chosen.also_high_risk:
            return HIGH_RISK
        needs_word = allow and (self._waiting.is_risky or chosen.scope == "all_tools")
        return self._waiting.words if needs_word else ("yes",)

    def _edit(self) -> dict[str, Any] | None:
        before = json_text(dict(self._waiting.args))
        edited = editing.in_editor(self._editor, before) if self._editor else None
        if edited is None:
            typer.echo(before)
            edited = self._line("the arguments, as JSON in one line > ")
        try:
            args = editing.read(edited)
        except editing.NotJson as error:
            typer.echo(f"This is no JSON object: {error}")
            return None
        for one in editing.changes(self._waiting.args, args):
            show_line(one)
        words = self._waiting.words if self._waiting.is_risky else ("yes",)
        if args == self._waiting.args or self._line(f"allow it so? {' or '.join(words)} > ") not in words:
            typer.echo("Nothing is sent.")
            return None
        return {"granted": True, "args": args}

    # Everything else.

    def clarification(self) -> dict[str, Any]:
        if self._waiting.is_free:
            return self._free()
        options = [(line(str(one)), str(one)) for one in self._waiting.options]
        return {"answer": self._question(options, allow_custom=bool(self._waiting.data.get("allow_custom", True)))}

    def _free(self) -> dict[str, Any]:
        """A word in front says how it is meant: nothing that is typed can be taken for both a text and a yes."""
        options = [str(one) for one in self._waiting.options]
        show_numbered(line(one) for one in options)
        typer.echo('yes: the graph gets true. no: the graph gets false. json "no": the text.')
        hint = " | ".join([*(["a number"] if options else []), "yes", "no", "text WORDS", "json JSON", "/cancel"])
        while True:
            typed = self._line(f"{hint} > ")
            number = self._number(typed, len(options))
            chosen = self._read_answer(typed) if number is None else free.text(options[number])
            if chosen is not None:
                show_line(chosen.line)
                return {"answer": chosen.sent}
            if typed:
                typer.echo("Not understood. Begin with yes, no, text or json.")

    @staticmethod
    def _read_answer(typed: str) -> free.FreeAnswer | None:
        word, _, rest = typed.partition(" ")
        word, rest = word.lower(), rest.strip()
        if word in ("yes", "no"):
            return None if rest else (free.YES if word == "yes" else free.NO)
        if word == "text" and rest:
            return free.text(rest)
        if word != "json" or not rest:
            return None
        try:
            return free.json(rest)
        except editing.NotJson as error:
            typer.echo(f"This is no JSON: {error}")
            return None

    def questions(self) -> dict[str, Any]:
        answers: list[str] = []
        for number, question in enumerate(self._waiting.data["questions"], 1):
            typer.echo(f"{number}.")
            for one in lines(str(question["question"])):
                show_line(one)
            all_options: Sequence[Mapping[str, Any]] = question.get("options") or ()
            options = [
                (line(str(one["label"])), str(one["value"])) for one in all_options if not one.get("allow_custom")
            ]
            allow_custom = any(one.get("allow_custom") for one in all_options)
            answers.append(self._question(options, allow_custom=allow_custom))
        return {"answers": answers}

    def _question(self, options: Sequence[tuple[Line, str]], *, allow_custom: bool) -> str:
        show_numbered(shown_line for shown_line, _ in options)
        is_free = allow_custom or not options
        hint = " or ".join([*(["a number"] if options else []), *([OWN_WORDS] if is_free else [])])
        while True:
            typed = self._line(f"{hint}, /cancel > ")
            number = self._number(typed, len(options))
            if number is not None:
                return options[number][1]
            if typed and is_free:
                return typed

    def decision(self) -> dict[str, Any]:
        options: Sequence[Mapping[str, Any]] = self._waiting.options
        show_numbered(option_line(one) for one in options)
        while True:
            number = self._number(self._line("a number, /cancel > "), len(options))
            if number is None:
                continue
            chosen = options[number]
            accepted = words_to_type(str(chosen["key"]))
            if is_dangerous(chosen) and self._line(f"marked as dangerous: {' or '.join(accepted)} > ") not in accepted:
                continue
            reason = self._line("reason, or nothing > ")
            return {"decision": chosen["key"], **({"reason": reason} if reason else {})}

    def env_var(self) -> dict[str, Any]:
        values: dict[str, str] = {}
        for field in self._waiting.data["fields"]:
            name, is_required = str(field["name"]), field.get("required", True)
            if field.get("description"):
                for one in lines(str(field["description"])):
                    show_line(one)
            ask = ask_secret if field.get("sensitive", True) else self._line
            value = ask(f"{one_line(name)}{'' if is_required else ' (may stay empty)'}: ")
            while is_required and not value:
                value = ask(f"{one_line(name)}: ")
            if value:
                values[name] = value
        save = bool(self._waiting.data.get("allow_save")) and self._line("save them, encrypted? yes/no > ") == "yes"
        return {"values": values, **({"save": True} if save else {})}

    @staticmethod
    def _number(typed: str, count: int) -> int | None:
        is_number = typed.isascii() and typed.isdigit() and 1 <= int(typed) <= count
        return int(typed) - 1 if is_number else None


_WAYS: Mapping[Kind, Callable[[Inline], dict[str, Any]]] = {
    "approval": Inline.approval,
    "clarification": Inline.clarification,
    "decision": Inline.decision,
    "env_var": Inline.env_var,
    "questions": Inline.questions,
}
