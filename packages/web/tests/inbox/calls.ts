import type { InboxRequest } from "interlock-client/inbox";
import type { Call } from "@/inbox/batch";
import { entry, moment } from "./entries";

export function request(id: string, given: Partial<InboxRequest> = {}): InboxRequest {
  return {
    ...entry(id),
    status: "pending",
    in_doubt: false,
    said: null,
    described_by: "agent",
    reason: null,
    body: {},
    view: { type: "json", lines: ["{", `  "path": "${id}"`, "}"], rest: [], details: [] },
    digest: `digest-${id}`,
    code: null,
    args_schema: null,
    file: null,
    allowed: ["accept", "reject"],
    allow_remember: true,
    siblings: [],
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
    server_time: moment(0),
    ...given,
  };
}

export function call(id: string, given: Partial<Call> = {}): Call {
  return { entry: entry(id), request: request(id), error: null, isDeleted: false, delivery: null, ...given };
}
