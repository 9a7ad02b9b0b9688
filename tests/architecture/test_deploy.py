"""What deploy/ says is true of the code: variables, commands, paths, ports; and it gives away no secret."""

import re
import shlex
import shutil
import subprocess
import tomllib
from contextlib import AbstractAsyncContextManager
from dataclasses import fields
from pathlib import Path
from typing import Any, cast

import pytest
import typer.main
from fastapi import FastAPI

from interlock import __version__
from interlock.cli.serving import GRACE_SECONDS
from interlock.config import Config, load
from interlock.faces.app import create_app
from interlock.faces.http.guard import AllowedHosts
from interlock.faces.http.server_state import ServerState
from interlock.faces.http.tokens import Tokens
from interlock.faces.web.pages import Pages
from interlock_client.cli.main import app as command_line
from tests.architecture.manifests import (
    DEPLOY,
    KUBERNETES,
    ROOT,
    assignments,
    compose,
    containers,
    files,
    filled_in,
    image_environment,
    instructions,
    kustomization,
    objects,
    of_kind,
    pods,
    secret_names,
    services,
    walk,
)

SECRET = re.compile(r"PASSWORD|TOKEN|SECRET|_KEY")
PINNED = re.compile(r"[\w./-]+:\d+\.\d+(\.\d+)?(-[\w.-]+)?\Z")
PIN = re.compile(r"^([\w.-]+)==([^\s;]+)", re.MULTILINE)
HOW_TO = ROOT / "docs" / "how-to" / "deploy.md"


def parses(arguments: list[str], command: Any, name: str) -> None:
    """Raises where the command would not take them; nothing is run."""
    inner: dict[str, Any] | None = getattr(command, "commands", None)
    if inner is None:
        command.make_context(name, list(arguments))
    else:
        parses(arguments[1:], inner[arguments[0]], arguments[0])


def interlock_commands() -> list[list[str]]:
    found: list[list[str]] = [
        service["command"]
        for service in services().values()
        if service["image"].startswith("${IMAGE") and "entrypoint" not in service
    ]
    found += [container["args"] for _, container in containers() if "args" in container and "command" not in container]
    for line in HOW_TO.read_text().splitlines():
        # As it is typed, or after what runs it in a container.
        typed = re.match(r"(?:docker compose (?:run|exec)|kubectl .*exec) .*?\binterlock (?P<rest>[a-z].*)", line)
        if typed is not None:
            found.append(shlex.split(typed["rest"], comments=True))
    return found


def test_every_manifest_names_what_it_is_and_is_applied() -> None:
    assert [one for one in objects() if not (one["apiVersion"] and one["kind"] and one["metadata"]["name"])] == []
    for folder in (KUBERNETES, KUBERNETES / "monitoring"):
        there = {path.name for path in folder.glob("*.yaml")} - {"kustomization.yaml"}
        assert set(kustomization(folder)["resources"]) == there


def test_every_variable_is_one_that_the_server_reads() -> None:
    read = {f"INTERLOCK_{field.name.upper()}" for field in fields(Config)}
    named = {name for path in files() for name in re.findall(r"INTERLOCK_[A-Z_]*[A-Z]", path.read_text())}
    assert named - read == set()


def test_the_servers_of_compose_can_read_their_settings() -> None:
    given = dict.fromkeys(assignments(DEPLOY / "env.example"), "0123456789abcdef")
    for name in ("server-1", "server-2"):
        settings = {key: filled_in(str(value), given) for key, value in services()[name]["environment"].items()}
        config = load(environment=image_environment() | settings)
        assert (config.runner, config.registration, config.secret_key) == ("ray", False, "0123456789abcdef")
        assert config.database is not None
        assert "0123456789abcdef" not in config.database


def test_the_servers_of_kubernetes_can_read_their_settings() -> None:
    secrets = {
        "INTERLOCK_DATABASE": "postgresql://interlock@db.internal/interlock",
        "INTERLOCK_BUS": "redis://redis.internal:6379/0",
    }
    settings = dict.fromkeys(secret_names(), "0123456789abcdef") | secrets | of_kind("ConfigMap")["data"]
    config = load(environment=image_environment() | settings)
    (rule,) = of_kind("Ingress")["spec"]["rules"]
    assert rule["host"] in config.allowed_hosts
    assert config.ray_address == f"ray://{of_kind('RayCluster')['metadata']['name']}-head-svc:10001"


def test_every_command_is_one_of_the_command_line() -> None:
    commands = interlock_commands()
    assert ["migrate"] in commands
    assert ["serve"] in commands
    for arguments in commands:
        parses(arguments, typer.main.get_command(command_line), "interlock")


def test_ray_takes_the_options_that_it_is_started_with() -> None:
    from ray.scripts.scripts import start

    given = [service["command"] for service in services().values() if service.get("entrypoint") == ["ray"]]
    cluster = of_kind("RayCluster")["spec"]
    given += [
        ["start", *(f"--{name}={value}" for name, value in group["rayStartParams"].items())]
        for group in (cluster["headGroupSpec"], *cluster["workerGroupSpecs"])
    ]
    assert len(given) == 4
    for command, *arguments in given:
        assert command == "start"
        parses(arguments, start, "start")


def test_every_path_that_is_asked_for_exists() -> None:
    def lifespan(_app: FastAPI) -> AbstractAsyncContextManager[None]:
        raise AssertionError("it is only described here, and not started")

    served = create_app(ServerState(cast("Any", None), Tokens(cast("Any", None))), AllowedHosts(), lifespan, Pages())
    asked = {value for one in objects() if one["kind"] != "Ingress" for key, value in walk(one) if key == "path"}
    for text in ((DEPLOY / "Dockerfile").read_text(), (DEPLOY / "compose.yaml").read_text()):
        asked |= set(re.findall(r"http://127\.0\.0\.1:\d+(/\w+)", text))
    assert asked >= {"/healthz", "/readyz", "/metrics"}
    assert asked - set(served.openapi()["paths"]) == set()


def test_one_port_is_meant_everywhere() -> None:
    port = image_environment()["INTERLOCK_PORT"]
    assert [rest for word, rest in instructions() if word == "EXPOSE"] == [port]
    proxied = re.findall(r"server (server-\d+):(\d+) ", (DEPLOY / "nginx.conf").read_text())
    assert proxied == [(name, port) for name in services() if name.startswith("server-")]
    server = next(one for name, one in containers() if name == "Deployment/interlock/server")
    assert [str(one["containerPort"]) for one in server["ports"]] == [port]


def test_the_proxy_keeps_streams_and_sockets_open_and_is_the_one_that_is_trusted() -> None:
    text = (DEPLOY / "nginx.conf").read_text()
    assert text.count("{") == text.count("}")
    for line in ("proxy_buffering off;", "proxy_read_timeout 24h;", "proxy_set_header Upgrade $http_upgrade;"):
        assert line in text
    trusted = services()["server-1"]["environment"]["INTERLOCK_TRUSTED_PROXIES"]
    assert services()["proxy"]["networks"]["edge"]["ipv4_address"] == trusted
    annotations = of_kind("Ingress")["metadata"]["annotations"]
    assert annotations["nginx.ingress.kubernetes.io/proxy-buffering"] == "off"


def test_every_image_is_of_a_version_and_ours_is_of_this_one() -> None:
    (ours,) = kustomization()["images"]
    used = [filled_in(service["image"], {}) for service in services().values()]
    bases = [rest.split(" ")[0] for word, rest in instructions() if word == "FROM"]
    assert [image for image in (*used, *bases) if not PINNED.match(image)] == []
    assert str(ours["newTag"]) == __version__
    assert f"interlock:{__version__}" in used
    assert {container["image"] for _, container in containers()} == {ours["name"]}


def test_no_secret_is_written_down() -> None:
    settings = [pair for pair in walk(compose()) if isinstance(pair[1], str) and SECRET.search(pair[0])]
    assert settings
    assert [name for name, value in settings if not re.fullmatch(r"\$\{\w+:\?[^}]+\}", value)] == []
    assert [name for name in of_kind("ConfigMap")["data"] if SECRET.search(name)] == []
    for _, container in containers():
        clear = [one["name"] for one in container.get("env", ()) if "value" in one and SECRET.search(one["name"])]
        assert clear == []
    assert not [name for name in image_environment() if SECRET.search(name)]
    for example in (DEPLOY / "env.example", KUBERNETES / "secret.env.example"):
        assert set(assignments(example).values()) == {""}


def test_every_key_that_a_container_is_given_exists() -> None:
    kept = {"secretKeyRef": secret_names(), "configMapKeyRef": set(of_kind("ConfigMap")["data"])}
    for name, container in containers():
        for one in container.get("env", ()):
            for kind, reference in one.get("valueFrom", {}).items():
                assert reference["name"] == "interlock"
                assert reference["key"] in kept[kind], name
        for one in container.get("envFrom", ()):
            (reference,) = one.values()
            assert reference["name"] == "interlock" or reference.get("optional"), name
    (endpoint,) = of_kind("ServiceMonitor")["spec"]["endpoints"]
    assert endpoint["authorization"]["credentials"]["key"] in secret_names()


def test_whoever_selects_pods_finds_some() -> None:
    labels = [set(template["metadata"]["labels"].items()) for _, template in pods()]
    selected = [value for one in objects() for key, value in walk(one) if key == "matchLabels" and len(value) == 2]
    selected.append(of_kind("Service")["spec"]["selector"])
    assert len(selected) > 5
    assert [one for one in selected if not any(set(one.items()) <= found for found in labels)] == []


def test_a_server_has_longer_to_end_than_its_tools() -> None:
    spec = of_kind("Deployment")["spec"]["template"]["spec"]
    (server,) = spec["containers"]
    before = int(server["lifecycle"]["preStop"]["exec"]["command"][1])
    assert spec["terminationGracePeriodSeconds"] > GRACE_SECONDS + before
    for name in ("server-1", "server-2"):
        assert int(services()[name]["stop_grace_period"].removesuffix("s")) > GRACE_SECONDS


def test_pods_run_as_nobody_in_particular_and_the_servers_on_a_file_system_that_stays() -> None:
    for name, template in pods():
        assert template["spec"]["securityContext"]["runAsNonRoot"] is True, name
        assert template["spec"]["automountServiceAccountToken"] is False, name
    for name, container in containers():
        context = container["securityContext"]
        assert context["allowPrivilegeEscalation"] is False, name
        assert context.get("readOnlyRootFilesystem", False) or name.startswith("RayCluster/"), name
    assert [rest for word, rest in instructions() if word == "USER"] == ["10001:10001"]


def test_whatever_the_image_copies_is_there_and_let_into_the_build() -> None:
    sources = [
        source
        for word, rest in instructions()
        if word == "COPY" and not rest.startswith("--from")
        for source in rest.split(" ")[:-1]
    ]
    let_in = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    assert sources
    assert [source for source in sources if not (ROOT / source).exists()] == []
    assert [source for source in sources if not any(Path(source).is_relative_to(one) for one in let_in)] == []


def test_the_image_has_what_the_server_is_tested_with_and_every_extra() -> None:
    pinned = dict(PIN.findall((ROOT / "requirements" / "image.txt").read_text()))
    tested = dict(PIN.findall((ROOT / "requirements" / "server.txt").read_text()))
    assert {name: version for name, version in tested.items() if pinned.get(name) != version} == {}
    project = tomllib.loads((ROOT / "packages" / "server" / "pyproject.toml").read_text())["project"]
    extras = [re.split(r"[\[<>=]", one)[0] for each in project["optional-dependencies"].values() for one in each]
    assert [name for name in extras if name not in pinned] == []
    assert of_kind("RayCluster")["spec"]["rayVersion"] == pinned["ray"]


def test_compose_starts_nothing_without_a_secret_that_it_needs() -> None:
    required = set(re.findall(r"\$\{(\w+):\?", (DEPLOY / "compose.yaml").read_text()))
    assert required == set(assignments(DEPLOY / "env.example"))


def test_secrets_are_made_once_each_of_its_own_for_nobody_else_to_read(tmp_path: Path) -> None:
    for name in ("make-env.sh", "env.example"):
        shutil.copy(DEPLOY / name, tmp_path / name)

    def make() -> int:
        return subprocess.run([tmp_path / "make-env.sh"], capture_output=True, check=False).returncode

    assert make() == 0
    made = assignments(tmp_path / ".env")
    assert set(made) == set(assignments(DEPLOY / "env.example"))
    assert len(set(made.values())) == len(made)
    assert {len(value) for value in made.values()} == {64}
    assert (tmp_path / ".env").stat().st_mode & 0o077 == 0
    assert make() == 1
    assert assignments(tmp_path / ".env") == made


@pytest.mark.parametrize("empty", [None, *sorted(secret_names())])
def test_a_pod_with_an_empty_secret_does_not_start_and_names_it(empty: str | None) -> None:
    (check,) = of_kind("Deployment")["spec"]["template"]["spec"]["initContainers"]
    environment = {"PATH": "/usr/bin:/bin"} | {name: "x y" for name in secret_names() if name != empty}
    done = subprocess.run(
        [*check["command"], *check["args"]], env=environment, capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr.split(" ")[0]) == ((1, empty) if empty else (0, ""))
