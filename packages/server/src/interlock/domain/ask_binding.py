"""To which ask an answer belongs.

LangGraph hands the answers of a task out by position. That is enough for a node that asks one thing after the other,
and not where calls run side by side, are left out after a crash, or have their result given by a person.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class AskBinding:
    asker: str | None
    """The effect inside of which it was asked, empty for a node's own code; None where a crash took that knowledge."""
    value: str
    """The digest of what was asked."""
    site: str | None = None
    """Where in the code it was asked."""
    alone: bool = True
    """False when more was asked under the same id in the same attempt: then only the words tell the asks apart."""

    def owns_answer_of(self, ask: "AskBinding", others: Iterable["AskBinding"]) -> bool:
        """Whether the answer to `ask` is also the answer to this one, which stands at the same position now.

        A node that is run again may word its question anew; then it is the same ask if the same line of code asks it,
        and if the words were not those of another ask of the task.
        """
        if ask.asker is not None and ask.asker != self.asker:
            return False
        if ask.value == self.value:
            return True
        is_same_line = ask.asker is not None and ask.site == self.site
        return is_same_line and ask.alone and all(other.value != self.value for other in others)


def to_form(binding: AskBinding) -> dict[str, Any]:
    return {"asker": binding.asker, "asked": binding.value, "site": binding.site, "alone": binding.alone}


def from_form(form: Mapping[str, Any]) -> AskBinding | None:
    """None for a request that was written before bindings were."""
    return AskBinding(form["asker"], form["asked"], form["site"], form["alone"]) if "asked" in form else None
