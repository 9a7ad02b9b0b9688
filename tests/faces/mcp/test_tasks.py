"""The extension for tasks: who declares it has a task at once and looks for its end; nobody else hears of tasks."""

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from typing import Any, Literal

import pytest
from mcp import Client, MCPError
from mcp.client.extension import ClaimContext, ClientExtension, ResultClaim
from mcp.client.session import ClientRequestContext
from mcp_types import CallToolResult, ElicitRequestParams, ElicitResult, Request, RequestParams, Result

from tests.support.mcp import Host, told

TASKS = "io.modelcontextprotocol/tasks"
APPROVAL: dict[str, Any] = {"action": "deploy", "args": {"to": "production"}}


class Named(RequestParams):
    task_id: str


class Task(Result):
    """As the extension describes it."""

    result_type: Literal["task"] = "task"
    task_id: str
    status: str
    created_at: str
    last_updated_at: str
    ttl_ms: int | None
    poll_interval_ms: int


class Detailed(Result):
    result_type: str = "complete"
    task_id: str = ""
    status: str = ""
    status_message: str = ""
    ttl_ms: int | None = None
    result: dict[str, Any] | None = None


class About(Request[Named, str]):
    name_param = "taskId"


class Tasks(ClientExtension):
    """What a client with the extension does, but for the waiting: each test looks when there is something to see."""

    identifier = TASKS

    def __init__(self) -> None:
        self.tasks: list[Task] = []

    def claims(self) -> Sequence[ResultClaim[Any]]:
        return [ResultClaim(result_type="task", model=Task, resolve=self._note)]

    async def _note(self, task: Task, _context: ClaimContext) -> CallToolResult:
        self.tasks.append(task)
        return CallToolResult(content=[], structured_content={"request_id": task.task_id, "status": "pending"})


@asynccontextmanager
async def with_tasks(host: Host, **more: Any) -> AsyncGenerator[tuple[Client, Tasks]]:
    tasks = Tasks()
    async with host.connected(extensions=[tasks], **more) as client:
        yield client, tasks


async def ask(client: Client, method: str, task_id: str) -> Detailed:
    return await client.session.send_request(About(method=method, params=Named(task_id=task_id)), Detailed)


async def test_the_extension_is_told_of_to_the_present_era(host: Host) -> None:
    async with host.connected() as client:
        assert (client.server_capabilities.extensions or {}).get(TASKS) == {}


async def test_a_call_is_a_task_at_once_which_is_completed_by_the_answer(host: Host) -> None:
    async with with_tasks(host) as (client, tasks):
        await client.call_tool("request_approval", APPROVAL)
        [task] = tasks.tasks
        [request] = host.pending()
        assert (task.task_id, task.status, task.poll_interval_ms) == (request["request_id"], "working", 5000)
        assert task.ttl_ms is not None
        assert task.ttl_ms > 3_600_000
        assert (await ask(client, "tasks/get", task.task_id)).status == "working"
        host.person.respond(task.task_id, {"granted": True})
        ended = await ask(client, "tasks/get", task.task_id)
    assert (ended.status, ended.result_type) == ("completed", "complete")
    outcome = told(CallToolResult.model_validate(ended.result))
    assert (outcome["approved"], outcome["args"]) == (True, {"to": "production"})


@pytest.mark.parametrize(
    ("more", "response", "expected"),
    [({}, {"granted": False, "reason": "no"}, "answered"), ({"timeout_seconds": 0.1}, None, "expired")],
)
async def test_a_refusal_and_a_deadline_complete_a_task_and_are_no_yes(
    host: Host, more: dict[str, Any], response: Any, expected: str
) -> None:
    async with with_tasks(host) as (client, tasks):
        await client.call_tool("request_approval", {**APPROVAL, **more})
        [task] = tasks.tasks
        if response is not None:
            host.person.respond(task.task_id, response)
        assert host.person.look(task.task_id, wait=20)["status"] == expected
        ended = await ask(client, "tasks/get", task.task_id)
    outcome = told(CallToolResult.model_validate(ended.result))
    assert (ended.status, outcome["status"], outcome["approved"]) == ("completed", expected, False)


async def test_a_task_without_a_deadline_has_no_end_of_its_own(host: Host) -> None:
    async with with_tasks(host) as (client, tasks):
        await client.call_tool("ask_person", {"question": "Which?", "timeout_seconds": None})
    assert tasks.tasks[0].ttl_ms is None


async def test_cancelling_a_task_withdraws_the_request_and_changes_no_answer(host: Host) -> None:
    async with with_tasks(host) as (client, tasks):
        await client.call_tool("request_approval", APPROVAL)
        await client.call_tool("ask_person", {"question": "Which?"})
        first, second = (task.task_id for task in tasks.tasks)
        await ask(client, "tasks/cancel", first)
        host.person.respond(second, {"answer": "this"})
        await ask(client, "tasks/cancel", second)
        assert (await ask(client, "tasks/get", first)).status == "cancelled"
        assert (await ask(client, "tasks/get", second)).status == "completed"
    assert host.person.look(first)["status"] == "cancelled"


async def test_nothing_that_a_client_updates_answers(host: Host) -> None:
    async with with_tasks(host) as (client, tasks):
        await client.call_tool("request_approval", APPROVAL)
        await ask(client, "tasks/update", tasks.tasks[0].task_id)
        assert (await ask(client, "tasks/get", tasks.tasks[0].task_id)).status == "working"


@pytest.mark.parametrize("method", ["tasks/get", "tasks/cancel", "tasks/update"])
async def test_a_task_of_another_key_is_nobodys(host: Host, person: Any, method: str) -> None:
    name = f"{host.agent}-b"
    other = Host(host.server, person, name, person.new_key(name, "agent")["key"])
    async with with_tasks(host) as (client, tasks), with_tasks(other) as (stranger, _):
        await client.call_tool("request_approval", APPROVAL)
        with pytest.raises(MCPError, match="forbidden"):
            await ask(stranger, method, tasks.tasks[0].task_id)
        with pytest.raises(MCPError, match="not_found"):
            await ask(stranger, method, "perm_0000000000000000")
    assert len(host.pending()) == 1


async def test_who_did_not_declare_it_hears_of_no_task(host: Host, mode: str) -> None:
    async with host.connected(mode) as client:
        outcome = told(await client.call_tool("request_approval", {**APPROVAL, "wait_seconds": 0}))
        assert outcome["status"] == "pending"
        with pytest.raises(MCPError) as refused:
            await ask(client, "tasks/get", outcome["request_id"])
    assert refused.value.error.code == (-32021 if mode == "auto" else -32601)


async def test_the_same_call_again_is_the_same_task(host: Host) -> None:
    keyed = {**APPROVAL, "idempotency_key": "k-1"}
    async with with_tasks(host) as (client, tasks):
        for _ in range(2):
            await client.call_tool("request_approval", keyed)
    assert len({task.task_id for task in tasks.tasks}) == 1
    assert len(host.pending()) == 1


async def test_the_prompt_of_claude_code_is_no_task_and_neither_is_a_wait(host: Host) -> None:
    asked = {"tool_name": "Bash", "input": {"command": "ls"}, "timeout_seconds": 0.1}
    async with with_tasks(host) as (client, tasks):
        [block] = (await client.call_tool("permission_prompt", asked)).content
        assert '"behavior": "deny"' in block.model_dump()["text"]
        await client.call_tool("ask_person", {"question": "Which?"})
        waited = await client.call_tool("wait", {"request_id": tasks.tasks[0].task_id, "wait_seconds": 0})
        assert told(waited)["status"] == "pending"
        assert len(tasks.tasks) == 1


async def test_a_page_comes_before_the_task(host: Host) -> None:
    opened: list[str] = []

    async def opening(_context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        opened.append(params.model_dump()["url"])
        return ElicitResult(action="accept")

    async with with_tasks(host, elicitation_callback=opening) as (client, tasks):
        await client.call_tool("request_secret", {"names": ["TOKEN"]})
    assert opened == [f"{host.server.url}/give/{tasks.tasks[0].task_id}"]
