"""What a delivery is signed with, and when it is tried again."""

import hashlib
import hmac
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from interlock.domain.errors import IllegalTransition
from interlock.domain.webhook import (
    BACK_OFF,
    DELIVERY,
    Delivery,
    DeliveryStatus,
    Webhook,
    WebhookEvent,
    back_off,
    new_signing_secret,
    signature,
    signed_headers,
)

AT = datetime(2026, 11, 15, 12, 0, 0, 900_000, tzinfo=UTC)
A_WEBHOOK = Webhook("hook_1", "https://x.example/", (WebhookEvent.ASKED,), (), "root", AT)
A_DELIVERY = Delivery(
    "dlv_1",
    "hook_1",
    WebhookEvent.ASKED,
    "ann-1",
    "perm_1",
    {"id": "dlv_1", "data": {"text": "a\0b \ud800 日本"}},
    DeliveryStatus.WAITING,
    AT,
)


def test_the_signature_is_a_keyed_hash_over_the_time_and_the_body() -> None:
    expected = hmac.new(b"whsec_x", b'1700000000.{"a":1}', hashlib.sha256).hexdigest()
    assert signature("whsec_x", 1_700_000_000, b'{"a":1}') == expected
    others = [("whsec_y", 1_700_000_000, b'{"a":1}'), ("whsec_x", 1_700_000_001, b'{"a":1}'), ("whsec_x", 1, b"")]
    assert expected not in [signature(*other) for other in others]


def test_a_known_signature_stays_as_it_is() -> None:
    assert signature("whsec_test", 1_700_000_000, b"{}") == (
        "35495024f4ef3f94e5a93e22221544c4b75e9a42300cd965ab81cb85cd994e91"
    )


def test_the_headers_name_the_event_and_the_delivery_and_sign_the_very_bytes_that_are_sent() -> None:
    headers = signed_headers(A_DELIVERY, "whsec_x", AT)
    assert headers["Interlock-Event"] == "request.asked"
    assert headers["Interlock-Delivery"] == "dlv_1"
    at = int(AT.timestamp())
    assert headers["Interlock-Signature"] == f"t={at},v1={signature('whsec_x', at, A_DELIVERY.payload)}"


def test_what_is_sent_is_the_same_however_the_body_was_put_together() -> None:
    turned = replace(A_DELIVERY, body=dict(reversed(A_DELIVERY.body.items())))
    assert turned.payload == A_DELIVERY.payload
    assert turned.payload.isascii()


def test_each_signing_secret_is_another() -> None:
    assert len({new_signing_secret() for _ in range(10)}) == 10


def test_failed_attempts_are_further_and_further_apart_until_none_is_left() -> None:
    waits = [back_off(attempts, 0.0) for attempts in range(1, 12)]
    seconds = [5, 30, 120, 600, 3600, 10800, 21600, 43200, 86400]
    assert waits == [*(timedelta(seconds=each) for each in seconds), None, None]


def test_jitter_only_ever_makes_a_wait_longer_and_never_by_more_than_a_tenth() -> None:
    assert back_off(1, 0.5) == timedelta(seconds=5.25)
    assert back_off(len(BACK_OFF), 1.0) == timedelta(seconds=86400 * 1.1)


def test_a_webhook_wants_its_events_of_its_agents() -> None:
    assert A_WEBHOOK.accepts(WebhookEvent.ASKED, "anybody")
    assert not A_WEBHOOK.accepts(WebhookEvent.SETTLED, "anybody")
    picky = replace(A_WEBHOOK, agents=("demo", "mail"))
    assert picky.accepts(WebhookEvent.ASKED, "mail")
    assert not picky.accepts(WebhookEvent.ASKED, "other")


def test_a_settled_delivery_only_goes_back_to_waiting() -> None:
    for settled in (DeliveryStatus.DELIVERED, DeliveryStatus.FAILED):
        DELIVERY.check(DeliveryStatus.WAITING, settled)
        DELIVERY.check(settled, DeliveryStatus.WAITING)
    with pytest.raises(IllegalTransition):
        DELIVERY.check(DeliveryStatus.FAILED, DeliveryStatus.DELIVERED)
