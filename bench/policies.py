"""What a policy costs an ask: one hundred rules that all have to be evaluated, beside none."""

import asyncio
import statistics
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx

from bench.table import Row, Table
from interlock.conditions import CelConditions
from interlock.domain.kinds import ApprovalBody
from interlock.domain.principal import Principal, Role
from interlock.services.core import Core, unit
from interlock.services.policies import versions
from interlock.services.policies.deciding import ruling_of
from interlock.storage.database import open_database
from interlock.storage.migrate import migrate
from interlock.storage.sealing import Sealer, derive
from interlock.storage.store import SqlStore
from tests.conformance.examples import a_request, a_thread, a_user
from tests.conformance.trails import core_on
from tests.conftest import MASTER_KEY
from tests.support.hitl import PERMISSION, HitlClient, of
from tests.support.people import FIRST, People
from tests.support.server import ServerProcess

RULES = 100
ASKS = 200
SMALL = 10
ROUNDS = 5
POLICY = "/api/v1/policy"


def against_none(table: Table, folder: Path, asks: int) -> None:
    process = ServerProcess(folder / "policies", environment={"INTERLOCK_LOCALE": "en"})
    spent: dict[bool, list[float]] = {True: [], False: []}
    try:
        with People(process.start().url) as people, of(people.named(FIRST)) as person:
            admin = people.named(FIRST).http
            key = person.new_key("bench", "agent", agent="bench")["key"]
            version = admin.post(f"{POLICY}/versions", json={"text": _text()}).raise_for_status().json()["version"]
            with HitlClient(process.url, key) as agent:
                _remember(person, agent)
                # They take turns: whatever else the machine does falls on both.
                for number in range(ROUNDS * 2):
                    has_rules = number % 2 == 1
                    _switch(admin, version if has_rules else None)
                    # The first one compiles the rules.
                    _asked(agent)
                    spent[has_rules] += [_asked(agent) for _ in range(max(1, asks // ROUNDS))]
    finally:
        process.close()
    ruled, plain = (statistics.median(spent[has_rules]) * 1000 for has_rules in (True, False))
    table.add(Row("policies", f"an ask with {RULES} rules", ruled, plain, "ms", "no policy", "1 ms more at the most"))


def own_part(table: Table, folder: Path, asks: int) -> None:
    """Of a whole ask a millisecond is lost among all that a network and a disk do: the policy's part by itself."""
    ruled, plain = (one * 1_000_000 for one in asyncio.run(_rulings(folder, asks)))
    what = f"the policy's part of an ask, {RULES} rules"
    table.add(Row("policies", what, ruled, plain, "µs", "no policy", "1,000 µs at the most"))


async def _rulings(folder: Path, asks: int) -> tuple[float, float]:
    database = open_database(f"sqlite:///{folder}/policies.db")
    try:
        await migrate(database)
        store = SqlStore(database, sealer=Sealer(MASTER_KEY), audit_key=derive(MASTER_KEY, "audit"))
        core = replace(core_on(store), conditions=CelConditions())
        async with store.transaction() as tx:
            await tx.users.add(a_user())
            await tx.threads.add(a_thread())
        plain = await _spent(core, asks)
        root = Principal("u-root", "root", Role.ADMIN)
        version, _ = await versions.save(core, root, _text())
        await versions.activate(core, root, version.number, None)
        return await _spent(core, asks), plain
    finally:
        await database.close()


async def _spent(core: Core, asks: int) -> float:
    """The median, in the transaction of an ask: which version counts, the facts, and every rule."""
    body = ApprovalBody.ask(PERMISSION["tool_name"], PERMISSION["args"], risk_level="medium")
    thread, request = a_thread(), a_request(body=body)
    spent: list[float] = []
    async with unit(core) as work:
        # The first one compiles the rules.
        await ruling_of(work, thread, request)
        for _ in range(asks):
            begin = time.perf_counter()
            await ruling_of(work, thread, request)
            spent.append(time.perf_counter() - begin)
    return statistics.median(spent)


def _text() -> str:
    """None of them applies, so that each is looked at."""
    rule = '[[rule]]\nname = "rule {0}"\nwhen = \'args.path.startsWith("/srv/{0}/") && risk != "high"\'\nthen = "ask"\n'
    return "".join(rule.format(number) for number in range(RULES))


def _switch(admin: httpx.Client, version: int | None) -> None:
    active = admin.get(POLICY).raise_for_status().json()["active"]
    path = "deactivate" if version is None else f"versions/{version}/activate"
    admin.post(f"{POLICY}/{path}", json={"expected": active}).raise_for_status()


def _remember(person: HitlClient, agent: HitlClient) -> None:
    """From here on nobody has to be waited for."""
    asked: dict[str, Any] = agent.ask("permission", PERMISSION)
    remembered = {"granted": True, "remember": True, "duration": "forever", "scope": "this_action"}
    person.respond(asked["request_id"], remembered)


def _asked(agent: HitlClient) -> float:
    begin = time.perf_counter()
    agent.ask("permission", PERMISSION)
    return time.perf_counter() - begin
