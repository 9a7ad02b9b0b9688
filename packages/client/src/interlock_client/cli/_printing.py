"""What the commands share that print what a server says, and read moments."""

from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime

    from pydantic import BaseModel

Json = Annotated[bool, typer.Option("--json", help="Print the server's reply as JSON.")]


def print_row(*columns: str, err: bool = False) -> None:
    """What people and agents wrote stands in it: each column is one line that is safe to print."""
    from interlock_client.visible import one_line

    typer.echo("\t".join(one_line(text) for text in columns), err=err)


def end_with_json(found: "BaseModel | Sequence[BaseModel] | None") -> NoReturn:
    from json import dumps

    from pydantic import BaseModel

    def plain(one: BaseModel) -> Any:
        return one.model_dump(mode="json", by_alias=True)

    value = plain(found) if isinstance(found, BaseModel) else None if found is None else [plain(one) for one in found]
    # Escapes for every letter beyond ASCII: nothing in it steers a terminal.
    typer.echo(dumps(value, indent=2))
    raise typer.Exit


def moment(option: str, text: str | None) -> "datetime | None":
    """Without a zone it is that of this machine."""
    from datetime import datetime

    if text is None:
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        raise typer.BadParameter(f"{text!r} is no moment: 2026-01-31T09:30:00Z", param_hint=option) from None
    return found if found.tzinfo else found.astimezone()
