import type { InboxRequest, People } from "interlock-client/inbox";

/** A request as the server would give it, with what a test is about. */
export function request(given: Partial<InboxRequest> = {}): InboxRequest {
  return {
    request_id: "perm_1",
    kind: "approval",
    conversation_id: "conv",
    conversation_title: "Clean up",
    owner: "ann",
    outside: false,
    agent: "demo",
    tool: "execute",
    display_name: "execute",
    headline: "execute",
    risk: "medium",
    created_at: "2026-01-01T10:00:00Z",
    expires_at: null,
    pause_id: "pause",
    position: 0,
    in_pause: 1,
    batchable: false,
    looking: [],
    status: "pending",
    in_doubt: false,
    said: null,
    described_by: "agent",
    reason: null,
    body: { tool_name: "execute", args: {}, description: "" },
    view: { type: "json", lines: ["{}"], rest: [], details: [] },
    digest: "00000011aaaa",
    code: "0017",
    args_schema: null,
    file: null,
    allowed: ["accept", "edit", "reject", "response"],
    allow_remember: true,
    siblings: ["perm_1"],
    at_deadline: "told",
    default: null,
    timeout_seconds: null,
    extendable: false,
    response: null,
    answered_by: null,
    answered_at: null,
    source: null,
    provenance: null,
    result: null,
    server_time: "2026-01-01T10:00:00Z",
    ...given,
  };
}

/** Two of a group, of which the reader is one who has not voted. */
export function people(given: Partial<People> = {}): People {
  return {
    needs: { people: 2, candidates: ["group:payments"], separate: true, code: false },
    votes: { yes: 0, needed: 2, refusals: 0 },
    own_vote: null,
    voters: [],
    claim: null,
    level: null,
    policy: null,
    may_answer: true,
    may_refuse: true,
    excluded: false,
    conversation: true,
    ...given,
  };
}
