"""Pages of lists, and the fields of their items that a client asked for."""

from collections.abc import Sequence

from interlock.domain.json_value import JsonObject


def page_headers(offset: int, length: int, *, has_more: bool) -> dict[str, str]:
    """How many there are in all is not counted: one more than were seen, where there are more."""
    end = offset + length
    if not has_more:
        return {"x-pagination-total": str(end)}
    return {"x-pagination-total": str(end + 1), "x-pagination-next": str(end)}


def selected(view: JsonObject, names: Sequence[str] | None) -> JsonObject:
    return view if names is None else {name: value for name, value in view.items() if name in names}
