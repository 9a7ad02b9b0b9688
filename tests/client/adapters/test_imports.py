"""The client brings no framework along; an adapter whose framework is not there says what to install."""

import subprocess
import sys

import pytest

ADAPTERS = {
    "openai_agents": ("agents", "interlock-client[openai-agents]"),
    "pydantic_ai": ("pydantic_ai", "interlock-client[pydantic-ai]"),
    "claude_agent": ("claude_agent_sdk", "interlock-client[claude-agent]"),
}
SECONDS = 60


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=SECONDS, check=False)


def test_the_client_imports_no_framework() -> None:
    frameworks = {framework for framework, _ in ADAPTERS.values()}
    done = python(
        "import sys, interlock_client.adapters; from interlock_client import *; "
        f"assert not {frameworks} & sys.modules.keys()"
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("adapter", ADAPTERS)
def test_an_adapter_without_its_framework_says_what_to_install(adapter: str) -> None:
    framework, extra = ADAPTERS[adapter]
    done = python(f"import sys; sys.modules[{framework!r}] = None; import interlock_client.adapters.{adapter}")
    assert done.returncode == 1
    said = done.stderr.splitlines()[-1]
    assert said.startswith("ImportError: this adapter needs")
    assert extra in said
