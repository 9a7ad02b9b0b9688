"""The language of a reply: what the caller prefers of the two that there are, else what the operator set."""

from fastapi.requests import HTTPConnection

from interlock.texts import Locale


def preferred_locale(accept_language: str | None, default: Locale) -> Locale:
    ranked: list[tuple[float, int, Locale]] = []
    for place, part in enumerate((accept_language or "").split(",")):
        tag, _, parameters = part.strip().partition(";")
        language = tag.split("-")[0].lower()
        if language == "zh":
            ranked.append((-_quality(parameters), place, "zh"))
        elif language == "en":
            ranked.append((-_quality(parameters), place, "en"))
    acceptable = [entry for entry in ranked if entry[0] < 0]
    return min(acceptable)[2] if acceptable else default


def _quality(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name != "q":
        return 1.0
    try:
        return float(value)
    except ValueError:
        return 0.0


def locale_of(connection: HTTPConnection) -> Locale:
    return preferred_locale(connection.headers.get("accept-language"), connection.app.state.server.locale)
