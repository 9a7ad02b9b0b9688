"""A picture in a few colours: a fourth of the size of a screenshot, and nobody sees the difference."""

import base64
import struct
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from playwright.sync_api import Page

MOST = 96
ALIKE = 150
PIXELS = """async (data) => {
  const image = await createImageBitmap(await (await fetch(`data:image/png;base64,${data}`)).blob());
  const canvas = new OffscreenCanvas(image.width, image.height).getContext("2d");
  canvas.drawImage(image, 0, 0);
  const { data: bytes } = canvas.getImageData(0, 0, image.width, image.height);
  let text = "";
  for (let at = 0; at < bytes.length; at += 4)
    text += String.fromCharCode(bytes[at], bytes[at + 1], bytes[at + 2]);
  return { width: image.width, height: image.height, pixels: btoa(text) };
}"""
"""Only a browser is there to read a picture."""


@dataclass(frozen=True, slots=True)
class Picture:
    """Its dots in rows, three bytes each."""

    width: int
    height: int
    dots: Sequence[bytes]


def shrink(file: Path, blank: Page) -> None:
    """In place; `blank` is a page with nothing on it."""
    picture = read(file.read_bytes(), blank)
    palette, indexed = in_few_colours(picture)
    parts = (b"PLTE", palette), (b"IDAT", packed(indexed, picture.width)), (b"IEND", b"")
    file.write_bytes(png(header(picture.width, picture.height), *parts))


def read(data: bytes, blank: Page) -> Picture:
    found: dict[str, Any] = blank.evaluate(PIXELS, base64.b64encode(data).decode())
    pixels = base64.b64decode(found["pixels"])
    return Picture(found["width"], found["height"], [pixels[at : at + 3] for at in range(0, len(pixels), 3)])


def in_few_colours(*pictures: Picture) -> tuple[bytes, bytes]:
    """One palette for all of them, and their dots, one after the other, as places in it."""
    counted = Counter(dot for picture in pictures for dot in picture.dots)
    palette = _palette([colour for colour, _ in counted.most_common()])
    places = {colour: index for index, colour in enumerate(palette)}
    places |= {colour: _nearest(colour, palette) for colour in counted if colour not in places}
    return b"".join(palette), bytes(places[dot] for picture in pictures for dot in picture.dots)


def _palette(colours: list[bytes]) -> list[bytes]:
    """Of those that are used most, as many as differ: the few dots of a colour of their own keep it."""
    palette: list[bytes] = []
    for colour in colours:
        if len(palette) < MOST and all(_distance(colour, other) > ALIKE for other in palette):
            palette.append(colour)
    return palette


def _nearest(colour: bytes, palette: list[bytes]) -> int:
    return min(range(len(palette)), key=lambda index: _distance(colour, palette[index]))


def _distance(one: bytes, other: bytes) -> int:
    return sum((left - right) ** 2 for left, right in zip(one, other, strict=True))


def packed(indexed: bytes, width: int) -> bytes:
    rows = b"".join(b"\0" + indexed[at : at + width] for at in range(0, len(indexed), width))
    return zlib.compress(rows, 9)


def header(width: int, height: int) -> tuple[bytes, bytes]:
    return b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)


def png(*parts: tuple[bytes, bytes]) -> bytes:
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(name, data) for name, data in parts)


def _part(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
