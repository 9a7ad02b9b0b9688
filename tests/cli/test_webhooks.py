"""`interlock webhooks`, on the database of a server that may run or not."""

from pathlib import Path

import pytest
from typer.testing import CliRunner

from interlock.domain.errors import InterlockError
from interlock_client.cli.main import app
from tests.cli.conftest import Interlock

HOSTS = "127.0.0.1"


def test_a_webhook_is_made_listed_and_removed(interlock: Interlock) -> None:
    url = "http://127.0.0.1:9/hook"
    made = interlock(
        "webhooks",
        "create",
        url,
        "--event",
        "request.settled",
        "--agent",
        "demo",
        webhook_hosts=HOSTS,
        webhook_private="on",
    )
    assert made.returncode == 0, made.stderr
    webhook_id, secret = made.stdout.split()
    assert secret.startswith("whsec_")
    listed = interlock("webhooks", "list")
    assert listed.stdout.split("\t")[:4] == [webhook_id, url, "request.settled", "demo"]
    assert secret not in listed.stdout
    assert interlock("webhooks", "deliveries", webhook_id).stdout == ""
    assert interlock("webhooks", "remove", webhook_id).returncode == 0
    assert interlock("webhooks", "list").stdout == ""
    again = interlock("webhooks", "remove", webhook_id)
    assert (again.returncode, again.stdout) == (2, "")


@pytest.mark.parametrize(
    ("arguments", "code", "reason"),
    [
        (["create", "http://127.0.0.1/"], "invalid_input", "INTERLOCK_WEBHOOK_HOSTS"),
        (["create", "http://127.0.0.1/", "--event", "request.lost"], "invalid_input", "request.lost"),
        (["deliveries", "hook_1", "--status", "lost"], "invalid_input", "lost"),
        (["deliveries", "hook_1"], "not_found", "webhook"),
        (["remove", "hook_1"], "not_found", "webhook"),
        (["replay", "dlv_1"], "not_found", "delivery"),
    ],
)
def test_what_cannot_be_is_refused_with_the_reason(
    tmp_path: Path, arguments: list[str], code: str, reason: str
) -> None:
    assert CliRunner().invoke(app, ["migrate", "--data", str(tmp_path)]).exit_code == 0
    done = CliRunner().invoke(app, ["webhooks", *arguments, "--data", str(tmp_path)])
    assert isinstance(done.exception, InterlockError)
    assert done.exception.code == code
    assert reason in done.exception.message
