"""What a campaign breaks: one server on SQLite, or two on one PostgreSQL and one Redis. The witness stands outside."""

from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from tests.servers.postgres import Keeper, own_postgres
from tests.servers.redis import RedisServer, redis
from tests.support import puppet
from tests.support.people import People
from tests.support.server import ServerProcess
from tests.support.witness import Witness

LEASE_SECONDS = 3.0
ADMIN = "root"
_ENVIRONMENT = {
    "INTERLOCK_SECRET_KEY": "the same on every server",
    "INTERLOCK_LEASE_SECONDS": str(LEASE_SECONDS),
    # Whoever is gone is back later: only an answer, and no patience, ends a run here.
    "INTERLOCK_FOLLOW_GRACE": "3600",
    # They all come from one address.
    "INTERLOCK_CONNECTIONS_PER_ADDRESS": "10000",
}


@dataclass
class Stage:
    name: str
    servers: Sequence[ServerProcess]
    witness: Witness
    postgres: Keeper | None = None
    redis: RedisServer | None = None
    people: list[People] = field(default_factory=list[People])
    """At each server, the same ones."""

    def sign_in(self, names: Sequence[str]) -> None:
        """Everybody, everywhere, before anything breaks; ports stay, and with them what clients know."""
        for server in self.servers:
            server.port = int(server.url.rpartition(":")[2])
            people = People(server.url)
            for name in (ADMIN, *names):
                people.named(name)
            self.people.append(people)

    @property
    def database(self) -> Path:
        """The file of SQLite's."""
        return self.servers[0].data / "interlock.db"


@contextmanager
def stage(name: str, folder: Path, names: Sequence[str]) -> Generator[Stage]:
    with ExitStack() as opened:
        witness = opened.enter_context(Witness())
        made = _stack(folder, witness, opened) if name == "stack" else _single(folder, witness, opened)
        for server in made.servers:
            server.start()
        made.sign_in(names)
        for people in made.people:
            opened.push(people.__exit__)
        yield made


def _server(folder: Path, environment: Mapping[str, str], opened: ExitStack, database: str | None) -> ServerProcess:
    server = ServerProcess(folder, [puppet.SPEC], database, environment=environment)
    opened.callback(server.close)
    return server


def _single(folder: Path, witness: Witness, opened: ExitStack) -> Stage:
    environment = _ENVIRONMENT | witness.environment
    return Stage("sqlite", [_server(folder / "one", environment, opened, None)], witness)


def _stack(folder: Path, witness: Witness, opened: ExitStack) -> Stage:
    # What was committed is there after a hard stop.
    postgres = opened.enter_context(own_postgres(synchronous_commit="on"))
    bus = opened.enter_context(redis())
    # Left to the server's folder: it is gone before a database could be dropped.
    name = "campaign"
    postgres.server.create_database(name)
    environment = _ENVIRONMENT | witness.environment | {"INTERLOCK_BUS": bus.url}
    url = postgres.server.url_of(name)
    servers = [_server(folder / one, environment, opened, url) for one in ("one", "other")]
    return Stage("stack", servers, witness, postgres, bus)
