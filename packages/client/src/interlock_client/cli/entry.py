"""Where the `interlock` script begins. It can be imported without the extra that the commands need."""

import sys
from importlib.util import find_spec
from typing import Any

EXTRA = ("typer", "rich", "textual")
SERVER = "interlock-server"


def run(arguments: list[str] | None = None) -> Any:
    """Run the command; what is refused is one line on standard error and exit code 2."""
    if (sys.argv[1:] if arguments is None else arguments) == ["--version"] and find_spec("typer"):
        # What needs no command loads none: the packages that bring them take longer than all else.
        print(installed_version())
        return None
    if not arguments and sys.argv[1:2] == ["mcp"]:
        # Started by a host, which waits: it needs none of the packages that the other commands do.
        from interlock_client.mcp_bridge import main

        sys.exit(main(sys.argv[2:]))
    from interlock_client.errors import InterlockError

    try:
        from interlock_client.cli.main import app

        return app(arguments)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] not in EXTRA:
            raise
        _end("the commands are an extra of this package: pip install 'interlock-client[cli]'")
    except InterlockError as error:
        _end(error.message)
    except OSError as error:
        if error.filename is None:
            raise
        # A folder or a file that cannot be made, read or written.
        _end(f"{error.filename} cannot be used: {error.strerror}")
    except Exception as error:
        from interlock_client.cli.plug_ins import refusals

        if not isinstance(error, refusals()):
            raise
        _end(*(text for name in ("message", "notes") if (text := getattr(error, name, None))))


def installed_version() -> str:
    """The server's, where it is installed; else of the commands by themselves."""
    from importlib.metadata import PackageNotFoundError, version

    from interlock_client import __version__

    try:
        return version(SERVER)
    except PackageNotFoundError:
        return __version__


def _end(message: str, notes: str = "") -> None:
    from interlock_client.visible import one_line, visible

    # A library's own words may have several lines.
    print(f"interlock: {one_line(message)}", file=sys.stderr)
    if notes:
        print(visible(notes), file=sys.stderr)
    sys.exit(2)
