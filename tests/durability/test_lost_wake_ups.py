"""With nobody told of anything, neither followers nor the runner, everything still goes on by itself."""

import time

import pytest

from tests.durability.lives import Lives, Talk

pytestmark = pytest.mark.promise("P9")

PATIENCE = 20.0
"""Promised are two seconds; a machine that runs other tests beside this one gets more."""


def test_an_answered_pause_goes_on_without_bus_and_without_wake_ups(lives: Lives) -> None:
    lives.start("bus.off=on,wake.off=on")
    for agent, verb in (("deploy", ""), ("tools", "write")):
        talk = Talk(lives, agent, verb)
        talk.is_asked()
        body = {"action": "continue", "request_id": talk.request_id}
        with talk.person.http.stream("POST", f"/api/resume/{talk.thread_id}", json=body) as response:
            assert response.status_code == 200
            answered = time.monotonic()
            talk.person.wait_for(lambda talk=talk: talk.effects, lambda effects: effects == 1)
            assert time.monotonic() - answered < PATIENCE
            response.read()
        assert talk.effects == 1
