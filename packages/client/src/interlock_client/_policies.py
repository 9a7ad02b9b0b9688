"""Policies: checked, tried, saved, activated, put in shadow; and why a request was asked. Most of it is for admins."""

from datetime import datetime
from typing import Any

from interlock_client import policy
from interlock_client._transport import Call, M, Part, segment

POLICY = "/api/v1/policy"
REPLAY_SECONDS = 600.0
"""For which a replay of many requests may take."""


class Policies(Part):
    async def check_policy(self, text: str) -> policy.PolicyCheck:
        """Everything that is wrong with a policy: its form, its conditions, its own tests. Nothing is saved."""
        return await self._ask(policy.PolicyCheck, "check", text=text)

    async def try_policy(self, text: str, facts: policy.PolicyFacts) -> policy.PolicyDecision:
        """What a policy says of facts that are given here. Nothing is written."""
        given = facts.model_dump(mode="json", exclude_unset=True)
        return await self._ask(policy.PolicyDecision, "try", text=text, facts=given)

    async def replay_policy(
        self, text: str, *, since: datetime | None = None, limit: int = 10_000
    ) -> policy.ReplayReport:
        """What a policy would have said of the requests on record, the newest first. Nothing is written."""
        begin = None if since is None else since.isoformat()
        return await self._ask(policy.ReplayReport, "replay", holds=REPLAY_SECONDS, text=text, since=begin, limit=limit)

    async def save_policy(self, text: str, note: str = "") -> policy.SavedPolicyVersion:
        """Save a policy as the next version. It counts only once it is activated."""
        return await self._change(policy.SavedPolicyVersion, "versions", text=text, note=note)

    async def activate_policy(self, version: int | None, *, expected: int | None) -> policy.ActivePolicy:
        """Have a version count in place of `expected`, or none. `Conflict` where another one counts by now."""
        path = "deactivate" if version is None else f"versions/{version}/activate"
        return await self._change(policy.ActivePolicy, path, expected=expected)

    async def policies(self, *, limit: int = 50, before: int | None = None) -> policy.PolicyHistory:
        """Which version counts, which is in shadow, and all that were saved, the newest first."""
        params = {"limit": limit, "before": before}
        return await self._got(policy.PolicyHistory, POLICY, {name: one for name, one in params.items() if one})

    async def policy_version(self, version: int) -> policy.PolicyVersion:
        """A version with its text."""
        return await self._got(policy.PolicyVersion, f"{POLICY}/versions/{version}")

    async def shadow_policy(self, version: int | None, *, expected: int | None) -> policy.PolicyShadow:
        """Put a version in shadow in place of `expected`, or none."""
        path = "shadow/off" if version is None else f"versions/{version}/shadow"
        return await self._change(policy.PolicyShadow, path, expected=expected)

    async def shadow_report(self, version: int) -> policy.ShadowReport:
        """Where a version in shadow, and what counted, differ."""
        return await self._got(policy.ShadowReport, f"{POLICY}/versions/{version}/shadow")

    async def explain(self, request_id: str) -> policy.PolicyExplanation:
        """Why a request was put to people, or was not: what the policy said of it."""
        return await self._got(policy.PolicyExplanation, f"/api/v1/inbox/requests/{segment(request_id)}/explain")

    async def _ask(self, model: type[M], path: str, *, holds: float = 0.0, **fields: Any) -> M:
        call = Call("POST", f"{POLICY}/{path}", self._body(**fields), holds=holds, repeatable=True)
        return await self._transport.fetch(model, call)

    async def _change(self, model: type[M], path: str, **fields: Any) -> M:
        return await self._transport.fetch(model, Call("POST", f"{POLICY}/{path}", self._body(**fields)))
