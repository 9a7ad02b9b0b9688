"""Lines of a stream, none of which takes more memory than it may."""

import asyncio
from collections.abc import AsyncGenerator

LONGEST_LINE = 64 * 1024 * 1024
_PIECE = 1024 * 1024


async def lines_of(stream: asyncio.StreamReader) -> AsyncGenerator[bytes | None]:
    """Each line with its end; None for one that is too long, of which no part is taken for a line of its own."""
    line, is_too_long = bytearray(), False
    while piece := await stream.read(_PIECE):
        for part in _parts(piece):
            is_too_long = is_too_long or len(line) + len(part) > LONGEST_LINE
            if is_too_long:
                line.clear()
            else:
                line += part
            if part.endswith(b"\n"):
                yield None if is_too_long else bytes(line)
                line, is_too_long = bytearray(), False
    if line or is_too_long:
        yield None if is_too_long else bytes(line)


def _parts(piece: bytes) -> list[bytes]:
    """Up to each end of a line, and what is left."""
    *whole, rest = piece.split(b"\n")
    return [*(part + b"\n" for part in whole), *([rest] if rest else [])]
