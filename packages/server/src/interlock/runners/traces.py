"""Where the code of an agent went wrong: its own frames, not those of what loads and runs it."""

import sysconfig
import traceback
from collections.abc import Iterator
from pathlib import Path

_OURS = f"{Path(__file__).resolve().parents[1]}/"
_LIBRARIES = (
    _OURS,
    *(f"{Path(sysconfig.get_path(name)).resolve()}/" for name in ("stdlib", "purelib", "platlib")),
)


def own_trace(error: BaseException) -> str:
    """The traceback from the first frame of the agent's own on; where it has none, without ours."""
    trace = traceback.TracebackException.from_exception(error)
    for one in _chain(trace):
        first = next((place for place, frame in enumerate(one.stack) if _is_own(frame)), None)
        others = [frame for frame in one.stack if not str(Path(frame.filename).resolve()).startswith(_OURS)]
        kept = [frame for frame in (others if first is None else one.stack[first:]) if not _is_machinery(frame)]
        one.stack = traceback.StackSummary.from_list(kept)
    return "".join(trace.format()).rstrip()


def own_place(error: BaseException) -> str | None:
    """The file and line where the agent's own code was last."""
    if isinstance(error, SyntaxError) and error.filename and error.lineno:
        return f"{error.filename}, line {error.lineno}"
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if _is_own(frame)]
    return f"{frames[-1].filename}, line {frames[-1].lineno}" if frames else None


def _chain(trace: traceback.TracebackException | None) -> Iterator[traceback.TracebackException]:
    while trace is not None:
        yield trace
        trace = trace.__cause__ or trace.__context__


def _is_own(frame: traceback.FrameSummary) -> bool:
    return not _is_machinery(frame) and not str(Path(frame.filename).resolve()).startswith(_LIBRARIES)


def _is_machinery(frame: traceback.FrameSummary) -> bool:
    """Of importing, of which there are several frames for each import."""
    return frame.filename.startswith("<frozen importlib") or frame.filename.endswith("/importlib/__init__.py")
