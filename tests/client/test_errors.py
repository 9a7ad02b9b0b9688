"""Every error of either dialect is one of the client's."""

from collections.abc import Iterator
from typing import Any

import pytest

from interlock.domain import errors as core
from interlock.faces.hitl import envelope
from interlock_client import Interlock, ServerFailed, errors
from interlock_client.errors import ERRORS, STATUSES, error_of
from tests.support.receiver import Receiver


def codes_of_the_core() -> Iterator[str]:
    kinds = [core.InterlockError]
    while kinds:
        kind = kinds.pop()
        kinds += kind.__subclasses__()
        if kind.__module__ == core.__name__:
            yield kind.code


def codes_of_the_envelope() -> set[str]:
    named = [value for value in vars(envelope).values() if isinstance(value, envelope.Code)]
    tables = [value for name, value in vars(envelope).items() if name in ("_CODES", "_CODES_OF_STATUS")]
    assert len(tables) == 2
    return {code.code for code in (*named, *(one for table in tables for one in table.values()))}


def test_every_code_of_the_core_is_mapped() -> None:
    assert set(codes_of_the_core()) - ERRORS.keys() == set()


def test_every_code_of_the_hitl_face_is_mapped() -> None:
    assert codes_of_the_envelope() - ERRORS.keys() == set()


def test_every_code_that_is_mapped_exists() -> None:
    assert ERRORS.keys() == {*codes_of_the_core(), *codes_of_the_envelope()}


def test_the_tree_is_drawn_as_it_is() -> None:
    drawn = {line.split("── ")[1].split()[0] for line in (errors.__doc__ or "").splitlines() if "── " in line}
    named = {name for name, value in vars(errors).items() if isinstance(value, type)}
    kinds = {name for name in named if issubclass(getattr(errors, name), errors.InterlockError)} - {"InterlockError"}
    assert drawn == kinds | {"ConfirmationError"}


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 409, 413, 422, 429, 502, 503, 504])
def test_a_status_alone_says_enough(status: int) -> None:
    assert type(error_of(status, None)) is STATUSES[status]
    assert error_of(status, "<html>").status == status


@pytest.mark.parametrize("status", [300, 418, 500, 599])
def test_any_other_status_is_a_failure_of_the_server(status: int) -> None:
    assert type(error_of(status, {})) is errors.ServerFailed


def test_a_malformed_body_of_the_plain_dialect_names_its_fields() -> None:
    detail = [{"loc": ["body", "message"], "msg": "Field required", "type": "missing"}]
    error = error_of(422, {"detail": detail})
    assert isinstance(error, errors.InvalidInput)
    assert error.errors == (errors.FieldError("message", "missing", "Field required"),)


def test_what_was_settled_by_its_deadline_is_expired_in_either_dialect() -> None:
    told = {"detail": "late", "code": "already_settled", "current_status": "expired"}
    assert type(error_of(409, told)) is errors.Expired
    enveloped: dict[str, Any] = {
        "success": False,
        "error": {"code": "HITL_REQUEST_EXPIRED", "message": "late", "details": {}},
    }
    assert type(error_of(409, enveloped)) is errors.Expired


def test_when_there_is_room_again_is_told() -> None:
    error = error_of(429, {"detail": "slow down", "code": "rate_limited"}, 2.0)
    assert isinstance(error, errors.RateLimited)
    assert error.retry_after == 2.0


async def test_what_is_no_interlock_server_is_said_to_be_none() -> None:
    with Receiver() as other:
        async with Interlock(other.url, patience=0) as client:
            with pytest.raises(ServerFailed):
                await client.create_thread()
            with pytest.raises(ServerFailed):
                await client.keys()
        assert [one.path for one in other.received] == ["/api/sessions"]
