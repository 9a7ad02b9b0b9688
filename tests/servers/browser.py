"""Debian's Chromium, driven by Playwright: one browser for a test process, a context for each person."""

from collections.abc import Generator
from contextlib import contextmanager

from playwright.sync_api import Browser, sync_playwright

from tests.servers.debian import install_missing

CHROMIUM = "/usr/bin/chromium"
PACKAGES = {"chromium": "chromium", "/usr/share/fonts/opentype/noto/NotoSansCJK-Regular.ttc": "fonts-noto-cjk"}
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
    install_missing(PACKAGES, "the tests in a browser")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        try:
            yield running
        finally:
            running.close()
