"""What each face says when nothing runs agents: that, and not that the database is gone."""

from pathlib import Path

import pytest

from interlock.bootstrap import application
from interlock.config import Config
from interlock.domain.errors import NoWorker
from interlock.faces.confirm.errors import refusal
from interlock.faces.hitl.envelope import failure
from interlock.faces.http.problems import DefaultErrorFormat
from interlock.faces.sessions.errors import SessionsErrorFormat
from interlock.texts import Locale
from tests.support.asgi import request_to

ERROR = NoWorker("nothing runs agents at the moment")
SAID: dict[Locale, str] = {"zh": "当前没有可用的执行节点", "en": "No worker is available"}


@pytest.mark.parametrize("locale", ["zh", "en"])
async def test_each_face_says_so_in_the_callers_language(tmp_path: Path, locale: Locale) -> None:
    async with application(Config(data=tmp_path, auth="none", locale=locale)) as built:
        replied = SessionsErrorFormat().refuse(ERROR, request_to(built.app))
    assert (replied.status_code, replied.headers["retry-after"]) == (503, "1")
    told = [bytes(replied.body).decode(), refusal(ERROR, locale).content, str(failure(ERROR, locale))]
    assert [SAID[locale] in one for one in told] == [True] * 3


async def test_the_others_name_the_code(tmp_path: Path) -> None:
    async with application(Config(data=tmp_path, auth="none")) as built:
        replied = DefaultErrorFormat().refuse(ERROR, request_to(built.app))
    assert (replied.status_code, b'"code":"no_worker"' in bytes(replied.body).replace(b" ", b"")) == (503, True)
