"""What a policy said, as several faces show it."""

from typing import Any

from interlock.domain.policy_explanation import Explanation


def decision_view(found: Explanation) -> dict[str, Any]:
    decision = found.decision
    return {
        "then": decision.ruling.value,
        "rule": decision.rule.name if decision.rule else None,
        "matches": list(decision.matches),
        "errors": [{"rule": name, "reason": reason} for name, reason in decision.errors],
        "because": found.cause.value,
        "facts": [{"name": one.name, "value": one.value} for one in found.facts],
    }


def explanation_view(request_id: str, found: Explanation) -> dict[str, Any]:
    rule = found.decision.rule
    return decision_view(found) | {
        "request_id": request_id,
        "version": found.version,
        "recorded": found.is_recorded,
        "reason": rule.reason if rule else "",
        "condition": rule.when or None if rule and found.is_whole else None,
        "whole": found.is_whole,
    }
