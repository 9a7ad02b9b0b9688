"""`interlock serve --config langgraph.json`: the project of somebody who used `langgraph dev`."""

import json
from pathlib import Path

import pytest

from interlock.config import load, read_project
from interlock.domain.errors import InvalidInput
from tests.support.langgraph import LanggraphClient
from tests.support.server import ServerProcess

GRAPH = """
import os
from typing import TypedDict

from langgraph.graph import START, StateGraph

from project_words import word


class State(TypedDict, total=False):
    out: str


graph = StateGraph(State)
graph.add_node("say", lambda _: {"out": f"{word} {os.environ['PROJECT_WORD']}"})
graph.add_edge(START, "say")
"""


def project(folder: Path, **more: object) -> Path:
    (folder / "src").mkdir(parents=True)
    (folder / "lib").mkdir()
    (folder / "src" / "agent.py").write_text(GRAPH)
    (folder / "lib" / "project_words.py").write_text('word = "hello"\n')
    (folder / ".env").write_text("# ours\nexport PROJECT_WORD='world' # of ours\nKEPT=\"a # b\"\nCUT = c#d # e\n")
    path = folder / "langgraph.json"
    said = {"dependencies": [".", "./lib", "some-package"], "graphs": {"mine": "./src/agent.py:graph"}, "env": ".env"}
    path.write_text(json.dumps({**said, **more}))
    return path


def test_a_project_is_served(tmp_path: Path) -> None:
    path = project(tmp_path / "project")
    environment = {"INTERLOCK_CONFIG": str(path)}
    with (
        ServerProcess(tmp_path / "data", auth="none", environment=environment) as server,
        LanggraphClient(server.url) as client,
    ):
        body = {"assistant_id": "mine", "input": {"out": ""}}
        assert client.http.post("/runs/wait", json=body).json() == {"out": "hello world"}


def test_what_a_project_says(tmp_path: Path) -> None:
    path = project(tmp_path / "project", graphs={"a": {"path": "./src/agent.py:graph"}, "b": "package.module:graph"})
    read = read_project(path)
    assert read.agents == (f"a={tmp_path}/project/src/agent.py:graph", "b=package.module:graph")
    assert read.folders == (tmp_path / "project", tmp_path / "project" / "lib")
    assert read.environment == {"PROJECT_WORD": "world", "KEPT": "a # b", "CUT": "c#d"}
    assert load({"config": path, "agents": ("first=x:y",)}, {}).agents == ("first=x:y", *read.agents)
    assert read_project(project(tmp_path / "other", env={"A": 1})).environment == {"A": "1"}


@pytest.mark.parametrize("text", ["{", "[]", '{"graphs": {}}', '{"graphs": {"a": "nothing"}}'])
def test_a_file_that_is_no_project_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "langgraph.json"
    path.write_text(text)
    with pytest.raises(InvalidInput, match="--config"):
        read_project(path)
    with pytest.raises(InvalidInput, match="No such file"):
        read_project(tmp_path / "none.json")
