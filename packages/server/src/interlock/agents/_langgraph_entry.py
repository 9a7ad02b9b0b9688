"""Where a hosted run enters a graph. Apart from `_langgraph`, on which the context of a run is built."""

from collections.abc import Callable
from functools import wraps
from typing import Any, cast

from langgraph.pregel import Pregel

from interlock.agents._langgraph import Graph
from interlock.agents.context import current


def check_on_entry(check: Callable[[Graph], None]) -> None:
    """Have `check` look at every graph that a hosted run enters, whoever made it and calls it, before its first step.

    Where it raises, the graph is not run.
    """
    pregel = cast("Any", Pregel)
    defaults = pregel._defaults
    if getattr(defaults, "interlock_checks", False):
        return

    @wraps(defaults)
    def check_and_default(self: Any, config: Any, **given: Any) -> Any:
        if current.get() is not None:
            check(self)
        return defaults(self, config, **given)

    cast("Any", check_and_default).interlock_checks = True
    pregel._defaults = check_and_default
