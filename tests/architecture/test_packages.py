"""Every package carries its licence and a README of its own."""

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("package", ["client", "server", "sdk-ts"])
def test_a_package_carries_the_licence_and_a_readme(package: str) -> None:
    folder = ROOT / "packages" / package
    assert (folder / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()
    assert "Apache-2.0" in (folder / "README.md").read_text()
    if package == "sdk-ts":
        return
    described = (folder / "pyproject.toml").read_text()
    for line in ('readme = "README.md"', 'license-files = ["LICENSE"]', 'requires-python = ">=3.11"'):
        assert line in described
