"""A server that is killed and started again, at an address that stays, and a person at its desk."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.client.network import Network
from tests.hooks.hook import SECONDS, Desk
from tests.support.hitl import HitlClient
from tests.support.server import ServerProcess
from tests.support.waiting import wait_for


@dataclass
class MortalServer:
    process: ServerProcess
    network: Network
    desk: Desk

    def kill(self) -> None:
        self.process.kill()

    def start(self) -> None:
        self.network.target = self.process.start().url

    def outlast(self) -> None:
        """While it is away: until it was tried so often that whoever tries for a moment only has given up."""
        opened = self.network.opened
        wait_for(lambda: self.network.opened, lambda now: now > opened + 6, SECONDS)

    def restart(self) -> None:
        self.kill()
        self.start()


@contextmanager
def mortal_server(folder: Path) -> Generator[MortalServer]:
    """Without accounts: who asks and who answers is anybody."""
    home = folder / "mortal-home"
    home.mkdir()
    process = ServerProcess(folder / "mortal", auth="none", environment={"INTERLOCK_LOCALE": "en"})
    try:
        with Network(process.start().url) as network, HitlClient(network.url, "") as anybody:
            desk = Desk(network.url, "", anybody, home)
            with desk.agent:
                for client in (anybody, desk.agent):
                    client.http.headers.pop("authorization")
                yield MortalServer(process, network, desk)
    finally:
        process.close()
