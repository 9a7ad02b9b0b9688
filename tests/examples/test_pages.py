"""Every command of every page is run here, or by another test of this folder, or is named with why it cannot be."""

import re
import shutil
from pathlib import Path

import pytest

from tests.support.command import command
from tests.support.pages import Command, commands

RUN_BY_OTHERS = {
    "README.md": "test_readme.py",
    "README.zh-CN.md": "test_readme.py",
    "docs/quickstart.md": "test_quickstart.py",
    "docs/how-to/ask-from-any-program.md": "test_ask_from_any_program.py",
    "docs/how-to/call-and-wait.md": "test_session_client.py",
}
RUN_HERE = re.compile(
    r"\.venv/bin/interlock (users (create|role|reset|list)|secrets rotate|backup|restore backup\.zip|audit verify"
    r"|threads (list|expire))\b"
)
CANNOT = {
    r"make ": "sets a whole clone up; the tests run in one that it made",
    r"(\.venv/bin/)?pip install": "takes packages from a registry",
    r"docker |cd deploy|\./make-env\.sh|kubectl |cp deploy|chmod ": "needs Docker; tests/architecture/test_deploy.py",
    r"mkdir |cp secret\.key": "done by the test of the restore itself",
    r"export |printf |date |python3 -c|cut |jq |openssl ": "of the shell, and nothing of ours",
    r"(\.venv/bin/)?interlock (serve|inbox|chat|login)": "goes on until it is stopped; tests/cli starts each",
    r"\.venv/bin/interlock users (sign-out|allow|disallow|delete)": "ends somebody's sessions; tests/faces/account",
    r"interlock (pending|answer) ": "with an id of the reader's; tests/cli/terminal/test_commands.py",
    r"\.venv/bin/interlock threads export": "with an id of the reader's; tests/cli/test_thread_commands.py",
    r"\.venv/bin/interlock webhooks ": "with a host or an id of the reader's; tests/cli/test_webhooks.py",
    r"\.venv/bin/interlock keys create laptop": "as in the README; test_readme.py",
    r"interlock policy ": "with a policy of the reader's; tests/cli/test_policy_commands.py",
    r"interlock (groups|away) ": "with people of the reader's; tests/cli/test_team_commands.py",
    r"interlock-hook install": "changes the settings of the reader's agents; tests/hooks/test_installing.py",
    r"claude -p|gemini ": "needs a model; tests/hooks starts each with a scripted one",
    r"opencode |interlock watch ": "starts or follows OpenCode, which needs a model; tests/hooks/test_watch.py",
    r"\.venv/bin/interlock restore interlock\.backup": "into the reader's database; tests/conformance/test_backup.py",
    r"curl .*(perm_|grant_|api/v1/(grants|policy|me/addresses)|receipt 4711)": "with a key or an id of the reader's",
}
"""By how they begin. All are parsed, and their paths looked up, in tests/architecture/test_doc_commands.py."""


def here(one: Command) -> bool:
    # A new key has to be kept by the operator: tests/cli/test_secrets.py gives one.
    return RUN_HERE.match(one.text) is not None and "NEW_SECRET_KEY" not in one.block


def test_every_command_of_every_page_is_run_or_says_why_not() -> None:
    left = [
        f"{one.page}: {one.text}"
        for one in commands()
        if one.page not in RUN_BY_OTHERS
        and not here(one)
        and not ("NEW_SECRET_KEY" in one.block and "secrets rotate" in one.text)
        and not any(re.match(pattern, one.text.replace("'", "")) for pattern in CANNOT)
    ]
    assert left == []
    for test in RUN_BY_OTHERS.values():
        assert Path(__file__).with_name(test).is_file()


@pytest.mark.parametrize("reason", CANNOT)
def test_no_reason_outlives_its_command(reason: str) -> None:
    assert any(re.match(reason, one.text.replace("'", "")) for one in commands())


def test_the_commands_that_administrate_a_server_do_what_the_pages_say(tmp_path: Path) -> None:
    """One after the other in one folder, in the order of the pages."""
    (tmp_path / "passphrase").write_text("correct horse battery\n")
    (tmp_path / "restored").mkdir()
    ran = 0
    for one in filter(here, commands()):
        words = [word.replace("/run/secrets/backup", "passphrase") for word in one.interlock or ()]
        if words[0] == "restore":
            shutil.copy(tmp_path / ".interlock" / "secret.key", tmp_path / "restored")
        given = "correct horse battery\n" * 2
        done = command(*words, given=given, folder=tmp_path)
        assert done.returncode == 0, (one.page, one.text, done.stdout, done.stderr)
        ran += 1
    assert ran >= 12
