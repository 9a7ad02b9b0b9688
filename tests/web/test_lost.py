"""Addresses that there are not: a person is told so and led back, a program gets what programs get."""

import re

import httpx
import pytest
from playwright.sync_api import expect

from interlock.faces.web.pages import ADDRESSES
from tests.support.pages import ROOT
from tests.support.server import ServerProcess
from tests.web.person import Person

BROWSER = {"accept": "text/html,application/xhtml+xml,*/*;q=0.8"}


@pytest.mark.parametrize("path", ["/nowhere", "/inbox/nowhere", "/settings/nowhere"])
def test_a_person_at_an_unknown_address_is_told_so_and_led_back(person: Person, path: str) -> None:
    page = person.opens(path)
    expect(page.get_by_role("heading", level=1)).to_have_text("Page not found")
    expect(page).to_have_title("Page not found · Interlock")
    page.get_by_role("main").get_by_role("link", name="Go to the inbox").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Inbox")


def test_an_unknown_address_is_a_404_for_everybody_and_json_for_programs(server: ServerProcess) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as http:
        visit, tool = http.get("/nowhere", headers=BROWSER), http.get("/nowhere")
        interface = http.get("/api/nowhere", headers=BROWSER)
        sent = http.post("/nowhere", headers=BROWSER)
    assert [one.status_code for one in (visit, tool, interface, sent)] == [404] * 4
    assert visit.headers["content-type"].startswith("text/html")
    assert "script-src 'self'" in visit.headers["content-security-policy"]
    assert all(one.json()["detail"] for one in (tool, interface, sent))


def test_every_page_has_an_address_that_the_server_knows() -> None:
    """Else it would be loaded with 404, and found by links only."""
    routes = re.findall(r'path="(/[^"]*)"', (ROOT / "packages" / "web" / "src" / "app.tsx").read_text())
    known = {re.sub(r"\{\w+\}", ":", address) for address in ADDRESSES}
    for route in routes:
        named = re.sub(r":\w+", ":", route).replace("?", "")
        assert {named, named.removesuffix("/:") or "/"} <= known if route.endswith("?") else named in known, route
