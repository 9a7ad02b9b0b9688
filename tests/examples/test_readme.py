"""What the READMEs say is what happens: their agent is hosted, and their lines of shell are run as they stand."""

import re
from pathlib import Path

import pytest

from tests.examples.readme import CHINESE, ENGLISH, ROOT, Readme, run_shell
from tests.support.server import ServerProcess
from tests.support.threads import ThreadsClient, parse

pytestmark = pytest.mark.xdist_group("examples")


def shown_in_order(told: str, output: str) -> bool:
    """Whether the lines that a README shows, where ... stands for anything, come in that order."""
    lines = [re.escape(line).replace(r"\.\.\.", ".*") for line in told.splitlines()]
    return (
        re.search("\n".join(f"^{line}$(?:\n(?!event:|data:).*)*" for line in lines), output, re.MULTILINE) is not None
    )


def test_the_agent_has_fifteen_lines_and_is_the_file_that_is_linked() -> None:
    agent = ENGLISH.block("python")
    assert len(agent.splitlines()) <= 15
    assert (ROOT / "examples" / "ask_first.py").read_text() == agent


@pytest.mark.parametrize(("readme", "language", "person"), [(ENGLISH, "en", "ann"), (CHINESE, "zh", "bea")])
def test_the_shell_lines_pause_and_go_on_as_shown(
    readme: Readme, language: str, person: str, server: ServerProcess, tmp_path: Path
) -> None:
    # Both tell of the same person; on the one server of these tests each of the two has to register.
    script = readme.block("bash", "curl").replace('"ann"', f'"{person}"')
    output = run_shell(script, server.url, tmp_path, language=language)
    assert shown_in_order(readme.block("text"), output), output
    frames = list(parse(iter(output.partition("}")[2].splitlines())))
    assert [frame.event for frame in frames] == ["interrupt", "end", "messages/partial", "end"]


def test_the_other_replies_of_the_readme_work_too(person: ThreadsClient) -> None:
    thread_id = person.new_thread("refunds")
    assert person.chat(thread_id, "order A-1002").events == ["interrupt", "end"]
    refused = person.resume(thread_id, "cancel", reason="too late")
    assert refused.text == "Not refunded. too late"


def test_the_line_that_hosts_the_agent_names_it_as_the_file_does() -> None:
    hosting = ENGLISH.block("bash", "interlock serve")
    assert "--agent refunds=examples/ask_first.py:agent" in hosting
    assert hosting.replace(" --locale en", "") == CHINESE.block("bash", "interlock serve")


def test_the_chinese_readme_is_a_twin_of_the_english_one() -> None:
    assert CHINESE.block("python") == ENGLISH.block("python")
    assert CHINESE.block("bash", "curl") == ENGLISH.block("bash", "curl")
    assert CHINESE.headings() == ENGLISH.headings()
    languages = {"README.md", "README.zh-CN.md"}
    english = [link.replace(".zh-CN.", ".") for link in ENGLISH.links() if link not in languages]
    assert [link.replace(".zh-CN.", ".") for link in CHINESE.links() if link not in languages] == english


@pytest.mark.parametrize("readme", [ENGLISH, CHINESE])
def test_every_make_target_that_is_named_exists(readme: Readme) -> None:
    targets = set(re.findall(r"^([a-z]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    named = set(re.findall(r"(?:^|`)make ([a-z]+)\b", readme.text, re.MULTILINE))
    assert {"serve", "test"} <= named <= targets


@pytest.mark.parametrize("readme", [ENGLISH, CHINESE])
def test_every_picture_is_drawn_for_its_reader(readme: Readme) -> None:
    pictures = [Path(ROOT / link) for link in readme.links() if link.endswith(".svg")]
    assert len(pictures) == 1
    assert pictures[0].read_text().startswith("<svg ")
