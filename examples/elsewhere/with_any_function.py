"""Any function: a person decides each call of it, and may change its arguments.

INTERLOCK_KEY=... .venv/bin/python examples/elsewhere/with_any_function.py
"""

from interlock_client import NotAnswered, Refused, SyncInterlock, requires_approval

client = SyncInterlock.from_environment()


@requires_approval(client=client, risk_level="high", timeout=3600)
def refund(order: str, amount: int) -> str:
    """Pay an order back."""
    return f"Refunded {amount} for {order}."


with client:
    try:
        print(refund("A-1001", amount=12))
    except (Refused, NotAnswered) as error:
        print(f"Not refunded: {error}")
