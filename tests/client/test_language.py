"""Clients name the language of the system that they run on, so that what a server refuses can be read there."""

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import Any

import pytest

from interlock_client import Interlock, NotAuthenticated, SyncInterlock
from interlock_client.language import language
from tests.support.command import command
from tests.support.server import ServerProcess

ENGLISH, CHINESE = "No credential", "未授权访问"
TOLD = [
    ("en_US.UTF-8", None, ENGLISH),
    ("fr_FR.UTF-8", None, ENGLISH),
    ("zh_CN.UTF-8", None, CHINESE),
    ("zh_CN.UTF-8", "en", ENGLISH),
    ("", None, CHINESE),
]


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"LANG": "en_GB.UTF-8"}, "en-GB"),
        ({"LANG": "zh_CN"}, "zh-CN"),
        ({"LANG": "en"}, "en"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW.UTF-8"}, "zh-TW"),
        ({"LANG": "en_US.UTF-8", "LC_MESSAGES": "zh_TW.UTF-8", "LC_ALL": "en_US.UTF-8"}, "en-US"),
        ({"LANG": "de_DE@euro"}, "de-DE, en;q=0.5"),
        ({"LANG": "C.UTF-8"}, None),
        ({"LANG": "POSIX"}, None),
        ({"LANG": "evil\r\nheader: x"}, None),
        ({}, None),
    ],
)
def test_the_language_is_that_of_the_system(environment: Mapping[str, str], expected: str | None) -> None:
    assert language(environment) == expected


@pytest.fixture(scope="module")
def chinese(tmp_path_factory: pytest.TempPathFactory) -> Generator[ServerProcess]:
    """A server that speaks Chinese to who names no language."""
    with ServerProcess(tmp_path_factory.mktemp("language") / "data") as running:
        yield running


@pytest.fixture(params=TOLD, ids=lambda case: f"{case[0] or 'none'}-{case[1] or 'unnamed'}")
def told(request: pytest.FixtureRequest, chinese: ServerProcess, monkeypatch: pytest.MonkeyPatch) -> tuple[Any, str]:
    """The language that a program names itself, and what it is then told; that of the system is set already."""
    lang, locale, expected = request.param
    for name in ("LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", lang)
    monkeypatch.setenv("INTERLOCK_URL", chinese.url)
    monkeypatch.delenv("INTERLOCK_KEY", raising=False)
    return locale, expected


async def test_what_a_server_refuses_is_told_in_it(chinese: ServerProcess, told: tuple[Any, str]) -> None:
    locale, expected = told
    for client in (Interlock(chinese.url, locale=locale), Interlock.from_environment(locale=locale)):
        async with client:
            with pytest.raises(NotAuthenticated, match=expected):
                await client.request("perm_0")


def test_the_twin_without_async_is_told_in_it_too(told: tuple[Any, str]) -> None:
    locale, expected = told
    with SyncInterlock.from_environment(locale=locale) as client, pytest.raises(NotAuthenticated, match=expected):
        client.request("perm_0")


@pytest.mark.parametrize(
    ("lang", "expected"), [("en_US.UTF-8", ENGLISH), ("zh_CN.UTF-8", CHINESE), ("C.UTF-8", ENGLISH)]
)
def test_a_command_is_told_in_the_language_of_the_system_or_in_its_own(
    chinese: ServerProcess, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, lang: str, expected: str
) -> None:
    monkeypatch.setenv("LC_ALL", lang)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    done = command("pending", "--url", chinese.url)
    assert (done.returncode, expected in done.stderr) == (1, True), done.stderr
