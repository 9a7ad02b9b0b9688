"""How risky a call is: the server's word. Who asks may raise it, and never lower it below what the operator said."""

from collections.abc import Mapping

RISK_LEVELS = ("low", "medium", "high", "critical")

KNOWN_RISKS: Mapping[str, str] = {
    "execute": "high",
    "delete_file": "high",
    "read_file": "low",
    "list_files": "low",
    "ls": "low",
    "glob": "low",
    "grep": "low",
}
"""What is said of tools by their names where the operator says nothing else."""

NEEDS_CODE = frozenset({"high", "critical"})
"""The levels at which a yes takes a deliberate second act."""


LOWEST, HIGH = "low", "high"


def is_within(risk: str, ceiling: str) -> bool:
    """Whether a call is no riskier than that; a level that is not known is beyond all."""
    return risk in RISK_LEVELS and RISK_LEVELS.index(risk) <= RISK_LEVELS.index(ceiling)


def risk_of(declared: str | None, configured: str | None, *, is_outside: bool) -> str:
    """The level that people see. What runs elsewhere is beyond this server: it is never called low."""
    floor = configured or "low"
    if is_outside:
        floor = max(floor, "medium", key=RISK_LEVELS.index)
    return max(declared or configured or "medium", floor, key=RISK_LEVELS.index)
