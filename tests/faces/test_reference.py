"""`/docs`: the interface on one page, which a browser may show without asking anybody else for anything."""

import html
import re

from tests.support.server import ServerProcess


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
