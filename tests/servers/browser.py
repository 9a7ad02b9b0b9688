"""Debian's Chromium, driven by Playwright: one browser for a test process, a context for each person."""

import shutil
from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.servers.debian import install_missing

PROGRAMS = ("chromium-headless-shell", "chromium")
"""The first one that is there. Without a window of its own, a page opens in a fraction of the time."""
FONTS = {"/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc": "fonts-noto-cjk"}
ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def browser() -> Generator[Browser]:
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=_program(), args=ARGUMENTS)
        try:
            yield running
        finally:
            running.close()


def _program() -> str:
    is_there = any(shutil.which(program) for program in PROGRAMS)
    preferred = PROGRAMS[0]
    install_missing({**FONTS, **({} if is_there else {preferred: preferred})}, "the tests in a browser")
    return next(found for program in PROGRAMS if (found := shutil.which(program)))
