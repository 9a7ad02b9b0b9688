"""An animated picture of somebody at work, as a PNG that moves: browsers show it wherever they show a picture."""

import struct
from pathlib import Path

from playwright.sync_api import Locator, Page
from small_png import Picture, header, in_few_colours, packed, png, read

# Screenshots have no pointer. Made part by part: the policy of the pages takes no markup.
POINTER = """({ x, y }) => {
  const make = (name, given) => {
    const one = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(given)) one.setAttribute(key, value);
    return one;
  };
  document.getElementById("pointer")?.remove();
  const pointer = make("svg", { id: "pointer", width: 24, height: 24, viewBox: "0 0 24 24" });
  pointer.append(make("path", { d: "M4 2v18l5-5 3 7 3-1-3-7h7Z", fill: "#111", stroke: "#fff", "stroke-width": 1.5 }));
  Object.assign(pointer.style, { position: "fixed", left: `${x}px`, top: `${y}px`, zIndex: 99, pointerEvents: "none" });
  document.body.append(pointer);
}"""
SETTLED_MS = 500


class Film:
    """Of a page, picture by picture; between two of them something is done."""

    def __init__(self, page: Page) -> None:
        self._page = page
        self._taken: list[tuple[bytes, int]] = []

    def points(self, target: Locator, milliseconds: int = 900) -> None:
        """The pointer comes to it."""
        box = target.bounding_box()
        if box is None:
            raise LookupError(f"{target} is not on the page")
        place = {"x": box["x"] + min(box["width"] / 2, 80), "y": box["y"] + box["height"] / 2}
        self._page.mouse.move(place["x"], place["y"])
        self._page.evaluate(POINTER, place)
        self.takes(milliseconds)

    def clicks(self, target: Locator, milliseconds: int = 900) -> None:
        self.points(target, milliseconds)
        target.click()

    def takes(self, milliseconds: int) -> None:
        # What is lazy is loaded, and what moves has stopped.
        self._page.wait_for_timeout(SETTLED_MS)
        self._taken.append((self._page.screenshot(caret="hide"), milliseconds))

    def save(self, file: Path, blank: Page) -> None:
        pictures = [read(data, blank) for data, _ in self._taken]
        first = pictures[0]
        palette, indexed = in_few_colours(*pictures)
        size = first.width * first.height
        frames = [indexed[at : at + size] for at in range(0, len(indexed), size)]
        parts = [header(first.width, first.height), (b"acTL", struct.pack(">II", len(frames), 0)), (b"PLTE", palette)]
        number = 0
        for place, (frame, (_, milliseconds)) in enumerate(zip(frames, self._taken, strict=True)):
            box = _changed(frames[place - 1], frame, first) if place else (0, 0, first.width, first.height)
            control = struct.pack(">IIIIIHHBB", number, box[2], box[3], box[0], box[1], milliseconds, 1000, 0, 0)
            data = packed(_cut(frame, first.width, box), box[2])
            number += 1
            parts.append((b"fcTL", control))
            if place == 0:
                parts.append((b"IDAT", data))
            else:
                parts.append((b"fdAT", struct.pack(">I", number) + data))
                number += 1
        file.write_bytes(png(*parts, (b"IEND", b"")))


def _changed(before: bytes, after: bytes, picture: Picture) -> tuple[int, int, int, int]:
    """The part that is not the same: its left and upper edge, width and height."""
    width = picture.width
    rows = [row for row in range(picture.height) if _row(before, row, width) != _row(after, row, width)]
    if not rows:
        return 0, 0, 1, 1
    columns = [
        column
        for column in range(width)
        if before[column + rows[0] * width : (rows[-1] + 1) * width : width]
        != after[column + rows[0] * width : (rows[-1] + 1) * width : width]
    ]
    return columns[0], rows[0], columns[-1] - columns[0] + 1, rows[-1] - rows[0] + 1


def _row(frame: bytes, row: int, width: int) -> bytes:
    return frame[row * width : (row + 1) * width]


def _cut(frame: bytes, width: int, box: tuple[int, int, int, int]) -> bytes:
    left, top, wide, high = box
    return b"".join(frame[row * width + left : row * width + left + wide] for row in range(top, top + high))
