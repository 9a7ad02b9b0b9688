"""The pictures of the documents: one command takes them all, each stands in a document, and the animated ones move."""

import re
import struct
import zlib
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
IMAGES = ROOT / "docs" / "images"
CAMERA = ROOT / "packages" / "web" / "scripts" / "screenshots.py"
PICTURES = sorted(path.name for path in IMAGES.iterdir())
FILMS = ("approval.png", "approval.zh-CN.png")


def documents() -> Iterator[tuple[Path, str]]:
    for path in (*ROOT.glob("README*.md"), *(ROOT / "docs").rglob("*.md")):
        yield path, path.read_text(encoding="utf-8")


def parts(file: Path) -> Iterator[tuple[bytes, bytes]]:
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at = 8
    while at < len(data):
        (size,) = struct.unpack_from(">I", data, at)
        yield data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        at += size + 12


def frames(file: Path) -> list[bytes]:
    """What is seen, one after the other: each frame is drawn over a part of the one before it."""
    found: list[bytes] = []
    width = height = 0
    box = (0, 0, 0, 0)
    for name, data in parts(file):
        if name == b"IHDR":
            width, height = struct.unpack_from(">II", data)
        elif name == b"fcTL":
            wide, high, left, top = struct.unpack_from(">4I", data, 4)
            box = (wide, high, left, top)
        elif name in (b"IDAT", b"fdAT"):
            dots = zlib.decompress(data if name == b"IDAT" else data[4:])
            found.append(drawn(bytearray(found[-1] if found else bytes(width * height)), width, box, dots))
    return found


def drawn(canvas: bytearray, width: int, box: tuple[int, int, int, int], dots: bytes) -> bytes:
    wide, high, left, top = box
    for row in range(high):
        begin = (top + row) * width + left
        # The first byte of a row names its filter, of which there is none.
        canvas[begin : begin + wide] = dots[row * (wide + 1) + 1 : (row + 1) * (wide + 1)]
    return bytes(canvas)


@pytest.mark.parametrize("name", FILMS)
def test_the_picture_of_an_approval_moves(name: str) -> None:
    seen = frames(IMAGES / name)
    control = dict(parts(IMAGES / name))[b"acTL"]
    assert struct.unpack(">II", control) == (len(seen), 0)  # 0: again and again
    assert len(seen) >= 6
    assert all(before != after for before, after in pairwise(seen))


@pytest.mark.parametrize(
    ("document", "name"),
    [
        ("README.md", FILMS[0]),
        ("README.zh-CN.md", FILMS[1]),
        ("docs/how-to/review-in-a-browser.md", FILMS[0]),
    ],
)
def test_the_picture_of_an_approval_stands_in_the_document(document: str, name: str) -> None:
    assert re.search(rf"!\[[^\]]+\]\([^)]*images/{re.escape(name)}\)", (ROOT / document).read_text(encoding="utf-8"))


def test_one_command_takes_every_picture() -> None:
    told = CAMERA.read_text(encoding="utf-8")
    # By name, or as a row: the picture, and who is seen in it.
    taken = {
        *re.findall(r'camera\.takes\("([^"]+)"', told),
        *re.findall(r'\("([\w.-]+)", "(?:mia|wei|max|chen)"', told),
    }
    assert sorted(f"{name}.png" for name in taken) == PICTURES


@pytest.mark.parametrize("name", PICTURES)
def test_every_picture_stands_in_a_document(name: str) -> None:
    assert [path for path, text in documents() if f"images/{name})" in text]
