"""What the files in deploy/ say, read as the tools that use them would."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import yaml

ROOT = Path(__file__).parents[2]
DEPLOY = ROOT / "deploy"
KUBERNETES = DEPLOY / "kubernetes"
GIVEN = re.compile(r"\$\{(?P<name>\w+)(?::-(?P<default>[^}]*)|:\?[^}]*)?\}")


def files() -> list[Path]:
    """Without what an operator has made there."""
    made = {DEPLOY / ".env", KUBERNETES / "secret.env"}
    return sorted(path for path in DEPLOY.rglob("*") if path.is_file() and path not in made)


def compose() -> dict[str, Any]:
    return yaml.safe_load((DEPLOY / "compose.yaml").read_text())


def services() -> dict[str, dict[str, Any]]:
    return compose()["services"]


def objects() -> list[dict[str, Any]]:
    """Every object of Kubernetes, those that kustomize reads itself left out."""
    found: list[dict[str, Any]] = []
    for path in sorted(KUBERNETES.rglob("*.yaml")):
        if path.name != "kustomization.yaml":
            found += yaml.safe_load_all(path.read_text())
    return found


def of_kind(kind: str) -> dict[str, Any]:
    (found,) = [one for one in objects() if one["kind"] == kind]
    return found


def kustomization(folder: Path = KUBERNETES) -> dict[str, Any]:
    return yaml.safe_load((folder / "kustomization.yaml").read_text())


def pods() -> Iterator[tuple[str, dict[str, Any]]]:
    """Each pod's template, by the name of what makes it."""
    for one in objects():
        spec = one.get("spec", {})
        name = f"{one['kind']}/{one['metadata']['name']}"
        if "template" in spec:
            yield name, spec["template"]
        if one["kind"] == "RayCluster":
            yield f"{name}/head", spec["headGroupSpec"]["template"]
            for group in spec["workerGroupSpecs"]:
                yield f"{name}/{group['groupName']}", group["template"]


def containers() -> Iterator[tuple[str, dict[str, Any]]]:
    for name, template in pods():
        for container in (*template["spec"].get("initContainers", ()), *template["spec"]["containers"]):
            yield f"{name}/{container['name']}", container


def secret_names() -> set[str]:
    return set(assignments(KUBERNETES / "secret.env.example"))


def assignments(path: Path) -> dict[str, str]:
    """The lines of a file of variables, comments left out."""
    lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
    return {name: value for name, _, value in (line.partition("=") for line in lines)}


def instructions() -> list[tuple[str, str]]:
    """Of the Dockerfile, in order."""
    text = re.sub(r"\\\n\s*", " ", (DEPLOY / "Dockerfile").read_text())
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines)]


def image_environment() -> dict[str, str]:
    (settings,) = [rest for word, rest in instructions() if word == "ENV"]
    return {name: value for name, _, value in (pair.partition("=") for pair in settings.split())}


def filled_in(text: str, environment: dict[str, str]) -> str:
    """As compose puts variables in; what is required has to be there."""

    def value(match: re.Match[str]) -> str:
        default = match["default"]
        return environment.get(match["name"]) or (environment[match["name"]] if default is None else default)

    return GIVEN.sub(value, text)


def walk(value: Any) -> Iterator[tuple[str, Any]]:
    """Every key with its value, however deep."""
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield key, inner
            yield from walk(inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from walk(inner)
