"""Every package carries its licence, a README of its own, and the one version that the changelog tells of."""

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import interlock
import interlock_client

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("package", ["client", "server", "sdk-ts"])
def test_a_package_carries_the_licence_and_a_readme(package: str) -> None:
    folder = ROOT / "packages" / package
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert "Apache-2.0" in (folder / "README.md").read_text()
    if package == "sdk-ts":
        return
    settings = (folder / "pyproject.toml").read_text()
    for line in ('readme = "README.md"', 'license-files = ["LICENSE"]', 'requires-python = ">=3.11"'):
        assert line in settings


def described(package: str) -> dict[str, Any]:
    return tomllib.loads((ROOT / "packages" / package / "pyproject.toml").read_text())["project"]


def test_all_packages_have_one_version() -> None:
    folders = [ROOT / "packages" / name for name in ("sdk-ts", "web")]
    npm = [json.loads((folder / f"package{part}.json").read_text()) for folder in folders for part in ("", "-lock")]
    locked = [one["packages"][""] for one in npm if "packages" in one]
    versions = {one["version"] for one in (described("client"), described("server"), *npm, *locked)}
    assert versions | {interlock_client.__version__} == {interlock.__version__}


def test_the_server_takes_the_client_of_its_own_minor_version() -> None:
    major, minor, _ = map(int, described("server")["version"].split("."))
    [client] = [one for one in described("server")["dependencies"] if one.startswith("interlock-client")]
    assert client == f"interlock-client[cli]>={major}.{minor}.0,<{major}.{minor + 1}"


def test_the_changelog_has_a_date_for_every_version_and_a_place_for_what_comes() -> None:
    first, *versions = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert first == "Unreleased"
    assert versions[0].startswith(f"{interlock.__version__} - ")
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ - \d{4}-\d\d-\d\d", version) for version in versions)
