"""The store: transactions whose repositories share one connection."""

import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from sqlalchemy.ext.asyncio import AsyncConnection

from interlock.storage.access import SqlAccess
from interlock.storage.answers import SqlAnswers
from interlock.storage.api_keys import SqlApiKeys
from interlock.storage.audit import SqlAudit
from interlock.storage.channels import SqlAddresses, SqlChannels
from interlock.storage.database import Database
from interlock.storage.drills import SqlDrills
from interlock.storage.effects import SqlEffects
from interlock.storage.events import SqlEvents
from interlock.storage.grants import SqlGrants
from interlock.storage.holds import SqlHolds
from interlock.storage.identities import SqlIdentities
from interlock.storage.leases import SqlLeases
from interlock.storage.notices import SqlNotices
from interlock.storage.pauses import SqlPauses
from interlock.storage.policies import SqlPolicies
from interlock.storage.removals import SqlRemovals
from interlock.storage.replies import SqlReplies
from interlock.storage.requests import SqlRequests
from interlock.storage.runs import SqlRuns
from interlock.storage.saved_secrets import SqlSavedSecrets
from interlock.storage.sealing import Sealer
from interlock.storage.secrets import SqlSecrets
from interlock.storage.sign_ins import SqlSignIns
from interlock.storage.teams import SqlGroups, SqlRoutes
from interlock.storage.threads import SqlThreads
from interlock.storage.tickets import SqlTickets
from interlock.storage.upstream_calls import SqlUpstreamCalls
from interlock.storage.users import SqlUsers
from interlock.storage.waiting_runs import SqlWaitingRuns
from interlock.storage.webhooks import SqlDeliveries, SqlWebhooks
from interlock.storage.workers import SqlFollowerQuestions, SqlServers, SqlWorkers


class SqlTransaction:
    """One transaction; its repositories are as cheap as attributes."""

    def __init__(self, connection: AsyncConnection, sealer: Sealer, audit_key: bytes, replies_key: bytes) -> None:
        self._connection = connection
        self._sealer = sealer
        self._audit_key = audit_key
        self._replies_key = replies_key

    @property
    def users(self) -> SqlUsers:
        return SqlUsers(self._connection)

    @property
    def sign_ins(self) -> SqlSignIns:
        return SqlSignIns(self._connection)

    @property
    def identities(self) -> SqlIdentities:
        return SqlIdentities(self._connection)

    @property
    def threads(self) -> SqlThreads:
        return SqlThreads(self._connection)

    @property
    def removals(self) -> SqlRemovals:
        return SqlRemovals(self._connection)

    @property
    def leases(self) -> SqlLeases:
        return SqlLeases(self._connection)

    @property
    def runs(self) -> SqlRuns:
        return SqlRuns(self._connection)

    @property
    def waiting_runs(self) -> SqlWaitingRuns:
        return SqlWaitingRuns(self._connection)

    @property
    def pauses(self) -> SqlPauses:
        return SqlPauses(self._connection)

    @property
    def requests(self) -> SqlRequests:
        return SqlRequests(self._connection)

    @property
    def answers(self) -> SqlAnswers:
        return SqlAnswers(self._connection)

    @property
    def events(self) -> SqlEvents:
        return SqlEvents(self._connection)

    @property
    def effects(self) -> SqlEffects:
        return SqlEffects(self._connection)

    @property
    def audit(self) -> SqlAudit:
        return SqlAudit(self._connection, self._audit_key)

    @property
    def secrets(self) -> SqlSecrets:
        return SqlSecrets(self._connection, self._sealer)

    @property
    def api_keys(self) -> SqlApiKeys:
        return SqlApiKeys(self._connection)

    @property
    def access(self) -> SqlAccess:
        return SqlAccess(self._connection)

    @property
    def tickets(self) -> SqlTickets:
        return SqlTickets(self._connection)

    @property
    def grants(self) -> SqlGrants:
        return SqlGrants(self._connection)

    @property
    def saved_secrets(self) -> SqlSavedSecrets:
        return SqlSavedSecrets(self._connection, self._sealer)

    @property
    def replies(self) -> SqlReplies:
        return SqlReplies(self._connection, self._replies_key)

    @property
    def holds(self) -> SqlHolds:
        return SqlHolds(self._connection)

    @property
    def upstream_calls(self) -> SqlUpstreamCalls:
        return SqlUpstreamCalls(self._connection)

    @property
    def policies(self) -> SqlPolicies:
        return SqlPolicies(self._connection)

    @property
    def drills(self) -> SqlDrills:
        return SqlDrills(self._connection)

    @property
    def groups(self) -> SqlGroups:
        return SqlGroups(self._connection)

    @property
    def routes(self) -> SqlRoutes:
        return SqlRoutes(self._connection)

    @property
    def webhooks(self) -> SqlWebhooks:
        return SqlWebhooks(self._connection, self._sealer)

    @property
    def workers(self) -> SqlWorkers:
        return SqlWorkers(self._connection)

    @property
    def servers(self) -> SqlServers:
        return SqlServers(self._connection)

    @property
    def follower_questions(self) -> SqlFollowerQuestions:
        return SqlFollowerQuestions(self._connection)

    @property
    def deliveries(self) -> SqlDeliveries:
        return SqlDeliveries(self._connection)

    @property
    def channels(self) -> SqlChannels:
        return SqlChannels(self._connection, self._sealer)

    @property
    def addresses(self) -> SqlAddresses:
        return SqlAddresses(self._connection)

    @property
    def notices(self) -> SqlNotices:
        return SqlNotices(self._connection)


class SqlStore:
    def __init__(
        self, database: Database, *, sealer: Sealer, audit_key: bytes, replies_key: bytes | None = None
    ) -> None:
        self._database = database
        self._keys = (sealer, audit_key, replies_key or os.urandom(32))

    @asynccontextmanager
    async def transaction(self) -> AsyncGenerator[SqlTransaction]:
        async with self._database.write() as connection:
            yield SqlTransaction(connection, *self._keys)

    @asynccontextmanager
    async def snapshot(self) -> AsyncGenerator[SqlTransaction]:
        async with self._database.read() as connection:
            yield SqlTransaction(connection, *self._keys)
