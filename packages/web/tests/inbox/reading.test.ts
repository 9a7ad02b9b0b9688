import type { InboxEntry } from "interlock-client/inbox";
import { afterEach, describe, expect, it } from "vitest";
import { readList } from "@/inbox/reading";
import { entry, NOW } from "./entries";

const FILTERS = { kind: null, risk: null, agent: "demo", q: null, for: null };
const SOON_MINUTES = 5;
const network = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = network;
});

/** A server for which so many wait, the oldest first; tells what it was asked for. */
function waiting(entries: InboxEntry[]): URLSearchParams[] {
  const asked: URLSearchParams[] = [];
  globalThis.fetch = async (input) => {
    const query = new URL(String(input), "http://server").searchParams;
    asked.push(query);
    const within = Number(query.get("closing_within") ?? 0) * 1_000;
    const closes = ({ expires_at: at }: InboxEntry) => at !== null && Date.parse(at) <= NOW + within;
    const found = within ? entries.filter(closes) : entries;
    const from = Number(query.get("cursor") ?? 0);
    const to = from + Number(query.get("limit"));
    return Response.json({
      requests: found.slice(from, to),
      total: found.length,
      next_cursor: to < found.length ? String(to) : null,
      server_time: new Date(NOW).toISOString(),
    });
  };
  return asked;
}

const old = (count: number) => Array.from({ length: count }, (_, number) => entry(`old-${number}`));

describe("the list", () => {
  it("is read to its end, and nothing is asked for twice, where few wait", async () => {
    const asked = waiting([...old(399), entry("closing", { expires: 1 })]);
    const page = await readList(FILTERS, 1_000);
    expect(page.entries.length).toBe(400);
    expect(page.cursor).toBeNull();
    expect(asked.length).toBe(2);
  });

  it("has what closes soon, however many have waited for longer", async () => {
    const late = [entry("later", { expires: SOON_MINUTES + 1 }), entry("closing", { expires: SOON_MINUTES - 1 })];
    const asked = waiting([entry("closing-listed", { expires: 1 }), ...old(400), ...late]);
    const page = await readList(FILTERS, 400);
    const ids = page.entries.map((one) => one.request_id);
    expect(ids.length).toBe(401);
    expect(new Set(ids).size).toBe(401);
    expect(ids).toContain("closing");
    expect(ids).not.toContain("later");
    expect(page.cursor).toBe("400");
    // Where the pages end still tells which rows they would have had.
    expect(ids.at(-1)).toBe("old-398");
    expect(asked.every((query) => query.get("agent") === "demo")).toBe(true);
  });
});
