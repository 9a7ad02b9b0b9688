"""A picture in a few colours: a fourth of the size of a screenshot, and nobody sees the difference."""

import base64
import struct
import zlib
from collections import Counter
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


def shrink(file: Path, blank: Page) -> None:
    """In place; `blank` is a page with nothing on it."""
    found: dict[str, Any] = blank.evaluate(PIXELS, base64.b64encode(file.read_bytes()).decode())
    pixels = base64.b64decode(found["pixels"])
    colours = [pixels[at : at + 3] for at in range(0, len(pixels), 3)]
    counted = Counter(colours)
    palette = _palette([colour for colour, _ in counted.most_common()])
    places = {colour: index for index, colour in enumerate(palette)}
    places |= {colour: _nearest(colour, palette) for colour in counted if colour not in places}
    indexed = bytes(places[colour] for colour in colours)
    file.write_bytes(_png(found["width"], found["height"], b"".join(palette), indexed))


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


def _png(width: int, height: int, palette: bytes, indexed: bytes) -> bytes:
    rows = b"".join(b"\0" + indexed[at : at + width] for at in range(0, len(indexed), width))
    header = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    parts = ((b"IHDR", header), (b"PLTE", palette), (b"IDAT", zlib.compress(rows, 9)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(_part(name, data) for name, data in parts)


def _part(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))
