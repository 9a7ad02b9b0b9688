"""`interlock channels`: on which people are told of requests."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from interlock.cli._database import Data, Database, run
from interlock_client.cli._server import hidden_prompt

if TYPE_CHECKING:
    from interlock.domain.channel import Channel
    from interlock.domain.json_value import JsonObject
    from interlock.services.channels.channels import ListedChannel
    from interlock.services.core import Core

app = typer.Typer(help="Manage channels, on which people are notified.", no_args_is_help=True, rich_markup_mode=None)

Settings = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Setting of its kind; repeatable. For mail: host, port, sender, security, username, domains; for slack: "
        "team, app, mode; for feishu: app, mode, api.",
    ),
]
Shows = Annotated[str, typer.Option(help="headline, or full: messages contain the whole call.")]
Ceiling = Annotated[str, typer.Option(help="Highest risk that people can approve on it: low or medium.")]
Credentials = Annotated[
    list[str] | None,
    typer.Option(
        "--credential",
        metavar="NAME[=VALUE]",
        help="Credential of its kind; repeatable. Asked for if only its name is given. For slack: bot_token, and "
        "app_token or signing_secret; for feishu: app_secret, and encrypt_key; for apprise: url.",
    ),
]
Password = Annotated[str | None, typer.Option(help="Prompted for if there is a username but no password.")]


@app.command()
def add(
    kind: str,
    set_: Settings = None,
    name: Annotated[str, typer.Option(help="What people see. [default: the kind]")] = "",
    shows: Shows = "headline",
    ceiling: Ceiling = "low",
    password: Password = None,
    credential: Credentials = None,
    data: Data = None,
    database: Database = None,
) -> None:
    """Add a channel of the given kind, such as mail, and print its id."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.channels import channels

    settings, chosen = _settings(set_ or []), _shows(shows)
    if settings.get("username") and password is None:
        password = hidden_prompt("Password")
    credentials = ({"password": password} if password else {}) | _credentials(credential or [])

    async def work(core: "Core") -> "Channel":
        return await channels.create(
            core, SYSTEM, kind, settings, credentials, name=name, shows=chosen, ceiling=ceiling
        )

    typer.echo(run(data, database, work).id)


@app.command(name="list")
def list_all(data: Data = None, database: Database = None) -> None:
    """List all channels, with how many notices wait and how many were given up."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.channels import channels

    async def work(core: "Core") -> "list[ListedChannel]":
        return await channels.list_all(core, SYSTEM)

    for one in run(data, database, work):
        channel = one.channel
        counts = (str(one.waiting), str(one.failed))
        typer.echo("\t".join((channel.id, channel.kind, channel.name, channel.shows, channel.ceiling, *counts)))


@app.command(name="test")
def send_test(channel_id: str, address: str, data: Data = None, database: Database = None) -> None:
    """Send a test message to an address."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.channels import channels

    async def work(core: "Core") -> None:
        await channels.send_test(core, SYSTEM, channel_id, address)

    run(data, database, work)
    typer.echo("the message was sent")


@app.command()
def remove(channel_id: str, data: Data = None, database: Database = None) -> None:
    """Remove a channel and its addresses; waiting notices are not sent."""
    from interlock.domain.principal import SYSTEM
    from interlock.services.channels import channels

    async def work(core: "Core") -> None:
        await channels.remove(core, SYSTEM, channel_id)

    run(data, database, work)
    typer.echo(f"{channel_id} is removed")


def _credentials(given: list[str]) -> dict[str, str]:
    pairs = [one.partition("=") for one in given]
    return {name: value if sign else hidden_prompt(name) for name, sign, value in pairs}


def _settings(pairs: list[str]) -> "JsonObject":
    from interlock.domain.errors import InvalidInput

    settings: dict[str, Any] = {}
    for pair in pairs:
        name, sign, value = pair.partition("=")
        if not sign:
            raise InvalidInput(f"--set {pair}: it must be NAME=VALUE, such as host=smtp.example.com")
        settings[name] = value
    if "port" in settings:
        settings["port"] = int(settings["port"]) if settings["port"].isdecimal() else settings["port"]
    if "domains" in settings:
        settings["domains"] = settings["domains"].replace(",", " ").split()
    return settings


def _shows(text: str) -> Any:
    from interlock.domain.channel import Shows
    from interlock.domain.errors import InvalidInput

    if text not in list(Shows):
        raise InvalidInput(f"{text!r} is not what a channel shows: use {', '.join(Shows)}")
    return Shows(text)
