"""Whether what clients saw is what Interlock promises."""

from tests.campaign.effect_model import check_effects
from tests.campaign.history import History
from tests.campaign.log_model import check_logs
from tests.campaign.request_model import check_requests
from tests.campaign.violation import Violation


def violations(history: History) -> list[Violation]:
    return [*check_requests(history), *check_logs(history), *check_effects(history)]


def check(history: History, seed: object) -> None:
    """Fail with all that is wrong, and with the seed that leads there again."""
    found = violations(history)
    assert not found, "\n".join([f"seed {seed}: {len(found)} violations", *map(str, found)])
