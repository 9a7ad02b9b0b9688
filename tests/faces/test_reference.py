"""`/docs`: the interface on one page, which a browser may show without asking anybody else for anything."""

import html
import re
from pathlib import Path

from tests.support.server import ServerProcess

ROOT = Path(__file__).parents[2]


def test_the_page_shows_every_operation_and_type_of_the_interface(server: ServerProcess) -> None:
    with server.client() as http:
        described = http.get("/openapi.json").raise_for_status().json()
        page = http.get("/docs").raise_for_status()
    shown = html.unescape(page.text)
    for path, methods in described["paths"].items():
        for method in methods:
            assert f"<code>{method.upper()} {path}</code>" in shown
    for name in described["components"]["schemas"]:
        assert f"<code>{name}</code>" in shown


def test_the_page_shows_every_face_also_those_that_no_description_can_hold(server: ServerProcess) -> None:
    with server.client() as http:
        shown = html.unescape(http.get("/docs").raise_for_status().text)
    pages = "".join(page.read_text() for page in (ROOT / "docs" / "reference").glob("*.md"))
    headings = re.findall(r"^### `([A-Z]+ /\S+)`", pages, re.MULTILINE)
    protocols = ["POST /mcp", "POST /mcp/g/{name}", "GET /mcp/g/{name}", "POST /mcp/calls", "POST /mcp/calls/{call_id}"]
    assert len(headings) > 50
    for operation in (*headings, *protocols):
        # What a part of the path is called is nobody's business but the page's.
        form = re.sub(r"\\{.*?}", r"\\{\\w+}", re.escape(operation))
        assert re.search(f"<code>{form}</code>", shown), operation
    for socket in ("/ws", "/api/v1/agent/ws"):
        assert f"<code>{socket}</code>" in shown


def test_the_page_needs_no_other_host_and_keeps_to_the_policy_of_pages(server: ServerProcess) -> None:
    with server.client() as http:
        page = http.get("/docs")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert not re.search(r"<script|<style|\sstyle=|\son[a-z]+=", page.text)
        addresses = re.findall(r'(?:href|src)="([^"]*)"', page.text)
        assert addresses
        for address in addresses:
            assert address.startswith("/"), address
            assert http.get(address).status_code == 200


def test_the_page_is_not_part_of_the_interface_that_it_describes(server: ServerProcess) -> None:
    with server.client() as http:
        assert "/docs" not in http.get("/openapi.json").json()["paths"]
