"""The page of LangGraph's own clients: where it is served, and one tab of it."""

import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any
from urllib.parse import urlencode

from playwright.sync_api import BrowserContext, Locator, Page
from typing_extensions import override

from tests.support.agui import CLIENTS
from tests.support.node import node

HERE = Path(__file__).parent
WEB = HERE.parents[2] / "packages" / "web"
INDEX = "<!doctype html><meta charset=utf-8><title>page</title><div id=root></div><script src={}></script>"


class _Quiet(SimpleHTTPRequestHandler):
    @override
    def log_message(self, format: str, *args: Any) -> None:
        pass


@contextmanager
def serving(folder: Path) -> Generator[str]:
    """The folder at an origin of its own, which is yielded."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder))) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def build(folder: Path, page: Path = HERE / "main.mjs", name: str = "index.html") -> None:
    """One file of code, and the document beside it."""
    assert (CLIENTS / "node_modules/@langchain/react").exists(), "its npm packages are not installed"
    script = f"{page.stem}.js"
    program = [node(), str(HERE / "build.mjs"), str(CLIENTS), str(page), str(folder / script)]
    subprocess.run(program, cwd=WEB, check=True, timeout=120)
    (folder / name).write_text(INDEX.format(script))


class Tab:
    def __init__(self, context: BrowserContext, address: str, **query: str) -> None:
        self.page: Page = context.new_page()
        self.page.goto(f"{address}/index.html?{urlencode(query)}")

    def shows(self, name: str) -> Locator:
        return self.page.get_by_test_id(name)

    def writes(self, text: str) -> None:
        self.page.locator("input").fill(text)

    def button(self, name: str) -> Locator:
        return self.page.get_by_role("button", name=name, exact=True)
