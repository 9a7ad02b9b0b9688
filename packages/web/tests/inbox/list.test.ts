import { describe, expect, test } from "vitest";
import type { LiveEvent } from "@/api/live";
import { type Change, changed, EMPTY, isUntidy, isWaiting, type List } from "@/inbox/list";
import { people } from "../request/request";
import { asked, entry, ids, moment, NOW, page, placed, settled, told } from "./entries";

const MINUTE = 60_000;

function merged(list: List, ...given: Parameters<typeof page>): List {
  return changed(list, { type: "merged", page: page(...given), since: list.turn, now: NOW });
}

describe("when the list is opened", () => {
  test("what closes soon comes first, then what has a deadline, then what waits longest", () => {
    const list = placed(
      entry("old", { created: -60 }),
      entry("later", { expires: 30 }),
      entry("new", { created: -1 }),
      entry("soon", { expires: 4 }),
      entry("sooner", { expires: 1 }),
    );
    expect(ids(list.rows)).toEqual(["sooner", "soon", "later", "old", "new"]);
    expect(list.rows.map((row) => row.group)).toEqual(["soon", "soon", "deadline", "open", "open"]);
  });

  test("what was asked in one pause stands in the order in which it was asked", () => {
    const list = placed(
      entry("b", { pause_id: "p", position: 0 }),
      entry("a", { pause_id: "p", position: 1 }),
      entry("c", { pause_id: "o", position: 0 }),
    );
    expect(ids(list.rows)).toEqual(["c", "b", "a"]);
  });

  test("what was asked while the page was read is there", () => {
    const before = told(EMPTY, asked(entry("b")));
    const list = changed(before, { type: "placed", page: page([entry("a")]), since: 0, now: NOW });
    expect(ids(list.rows)).toEqual(["a", "b"]);
    expect(list.newcomers).toEqual([]);
  });

  test("what was asked while the page was read, and is on it, is there once", () => {
    const before = told(EMPTY, asked(entry("a")));
    const list = changed(before, { type: "placed", page: page([entry("a")]), since: 0, now: NOW });
    expect(ids(list.rows)).toEqual(["a"]);
  });

  test("what ended while the page was read is not there", () => {
    const before = told(EMPTY, settled("a"));
    const list = changed(before, { type: "placed", page: page([entry("a"), entry("b")]), since: 0, now: NOW });
    expect(ids(list.rows)).toEqual(["b"]);
  });

  test("other filters leave nothing of the list before", () => {
    const before = told(placed(entry("a"), entry("b")), asked(entry("c")), settled("a"));
    const list = changed(before, { type: "placed", page: page([entry("d")]), since: before.turn, now: NOW });
    expect(ids(list.rows)).toEqual(["d"]);
    expect(list.newcomers).toEqual([]);
  });
});

describe("while the list is on the screen", () => {
  const list = placed(entry("a", { expires: 30 }), entry("b", { created: -5 }), entry("c", { created: -4 }));

  test("newcomers wait, however urgent they are", () => {
    const after = told(list, asked(entry("d", { expires: 1 })));
    expect(ids(after.rows)).toEqual(["a", "b", "c"]);
    expect(ids(after.newcomers)).toEqual(["d"]);
  });

  test("a newcomer that is told twice is one", () => {
    const after = told(list, asked(entry("d")), asked(entry("d")), asked(entry("a")));
    expect(ids(after.rows)).toEqual(["a", "b", "c"]);
    expect(ids(after.newcomers)).toEqual(["d"]);
  });

  test("what is settled stays where it is, and says by whom and how", () => {
    const after = told(list, settled("b"));
    expect(ids(after.rows)).toEqual(["a", "b", "c"]);
    expect(after.rows[1]?.ending).toEqual({ how: "approved", by: "li" });
    expect(after.rows.filter(isWaiting)).toHaveLength(2);
  });

  test.each([
    ["reject", "refused"],
    ["edit", "edited"],
    ["response", "replied"],
  ])("an approval with the decision %s is %s", (decision, how) => {
    expect(told(list, settled("a", { value: { decision } })).rows[0]?.ending?.how).toBe(how);
  });

  test("a decision whose option is called accept is answered, not approved", () => {
    const asks = placed(entry("q", { kind: "decision", tool: null, risk: null }));
    expect(told(asks, settled("q", { value: { decision: "accept" } })).rows[0]?.ending?.how).toBe("answered");
  });

  test("what expires or is cancelled says so", () => {
    const after = told(
      list,
      settled("a", { status: "expired", answered_by: null, value: null }),
      settled("b", { status: "cancelled", value: null }),
    );
    expect(after.rows.map((row) => row.ending?.how)).toEqual(["expired", "cancelled", undefined]);
  });

  test("only the first end counts", () => {
    const after = told(list, settled("b"), settled("b", { status: "expired", answered_by: null }));
    expect(after.rows[1]?.ending).toEqual({ how: "approved", by: "li" });
  });

  test("a newcomer that is settled before it was shown is never shown", () => {
    const after = told(list, asked(entry("d")), settled("d"));
    expect(after.newcomers).toEqual([]);
    expect(ids(changed(after, { type: "shown", now: NOW }).rows)).toEqual(["a", "b", "c"]);
  });

  test("a later deadline changes the row and not its place", () => {
    const after = told(list, { type: "extended", requestId: "a", expiresAt: moment(2) });
    expect(ids(after.rows)).toEqual(["a", "b", "c"]);
    expect(after.rows[0]?.entry.expires_at).toBe(moment(2));
    expect(after.rows[0]?.group).toBe("deadline");
  });

  test("who looks is on the row for 20 seconds", () => {
    const after = told(list, { type: "looking", requestId: "b", names: ["li"] });
    expect(after.rows[1]?.entry.looking).toEqual(["li"]);
    expect(after.rows[1]?.lookedUntil).toBe(NOW + 20_000);
  });

  test("a deleted conversation ends its rows and takes its newcomers", () => {
    const after = told(list, asked(entry("d", { conversation_id: "thread-a" })), asked(entry("e")), {
      type: "deleted",
      conversationId: "thread-a",
    });
    expect(after.rows.map((row) => row.ending?.how)).toEqual(["deleted", undefined, undefined]);
    expect(ids(after.newcomers)).toEqual(["e"]);
  });

  test("with nothing on the screen a newcomer is shown at once, and the next one waits", () => {
    const after = told(placed(), asked(entry("a")), asked(entry("b")));
    expect(ids(after.rows)).toEqual(["a"]);
    expect(ids(after.newcomers)).toEqual(["b"]);
  });
});

describe("when newcomers are asked for", () => {
  test("they take their places among the others, by the time it is then", () => {
    const list = told(placed(entry("a"), entry("b", { expires: 6 })), asked(entry("c", { expires: 1 })));
    const after = changed(list, { type: "shown", now: NOW + 2 * MINUTE });
    expect(ids(after.rows)).toEqual(["c", "b", "a"]);
    expect(after.rows[1]?.group).toBe("soon");
    expect(after.newcomers).toEqual([]);
  });

  test("what ended stays", () => {
    const list = told(placed(entry("a"), entry("b")), settled("a"), asked(entry("c")));
    expect(ids(changed(list, { type: "shown", now: NOW }).rows)).toEqual(["a", "b", "c"]);
  });
});

describe("when the list is tidied", () => {
  test("what ended goes, what waits stays, newcomers still wait", () => {
    const list = told(placed(entry("a"), entry("b")), settled("a"), asked(entry("c")));
    const after = changed(list, { type: "tidied", now: NOW });
    expect(ids(after.rows)).toEqual(["b"]);
    expect(ids(after.newcomers)).toEqual(["c"]);
  });

  test("there is something to tidy when a row ended or has become more urgent", () => {
    const list = placed(entry("a"), entry("b", { expires: 6 }));
    expect(isUntidy(list, NOW)).toBe(false);
    expect(isUntidy(list, NOW + 2 * MINUTE)).toBe(true);
    expect(isUntidy(told(list, settled("a")), NOW)).toBe(true);
  });
});

describe("when events were lost", () => {
  const list = placed(entry("a"), entry("b"), entry("c"));

  test("no row moves, what is gone says so, and what is new waits", () => {
    const after = merged(list, [entry("x", { created: -60 }), entry("c"), entry("a")]);
    expect(ids(after.rows)).toEqual(["a", "b", "c"]);
    expect(after.rows.map((row) => row.ending?.how)).toEqual([undefined, "gone", undefined]);
    expect(ids(after.newcomers)).toEqual(["x"]);
  });

  test("a row takes over what the server now says of it", () => {
    const after = merged(list, [entry("a", { expires: 3 }), entry("b"), entry("c")]);
    expect(after.rows[0]?.entry.expires_at).toBe(moment(3));
    expect(after.rows[0]?.group).toBe("open");
  });

  test("what was asked after the page was read is not taken for gone", () => {
    const since = list.turn;
    const later = told(list, asked(entry("d")));
    const after = changed(later, { type: "merged", page: page([entry("a"), entry("b"), entry("c")]), since, now: NOW });
    expect(ids(after.newcomers)).toEqual(["d"]);
    expect(after.rows.every(isWaiting)).toBe(true);
  });

  test("what ended after the page was read does not come back", () => {
    const since = list.turn;
    const later = told(list, settled("a"), asked(entry("d")), settled("d"));
    const read = page([entry("a"), entry("b"), entry("c"), entry("d")]);
    const after = changed(later, { type: "merged", page: read, since, now: NOW });
    expect(after.rows[0]?.ending?.how).toBe("approved");
    expect(after.newcomers).toEqual([]);
  });

  test("a newcomer that is gone is gone", () => {
    const later = told(list, asked(entry("d")));
    expect(merged(later, [entry("a"), entry("b"), entry("c")]).newcomers).toEqual([]);
  });

  test("what lies behind the last page that was read may still be there", () => {
    const rows = placed(entry("a", { created: -9 }), entry("b", { created: -8 }), entry("c", { created: -7 }));
    const far = told(rows, asked(entry("far", { created: -1 })));
    const after = merged(far, [entry("b", { created: -8 })], "more");
    expect(after.rows.map((row) => row.ending?.how)).toEqual(["gone", undefined, undefined]);
    expect(ids(after.newcomers)).toEqual(["far"]);
  });

  test("how a row ended is told after all", () => {
    const after = told(merged(list, [entry("a"), entry("c")]), settled("b"));
    expect(after.rows[1]?.ending).toEqual({ how: "approved", by: "li" });
  });

  test("what waits after an empty list is shown at once", () => {
    expect(ids(merged(placed(), [entry("b"), entry("a")]).rows)).toEqual(["a", "b"]);
  });
});

describe("when more is shown", () => {
  test("each entry is there once, and a newcomer that is on the page no longer waits", () => {
    const first = changed(EMPTY, { type: "placed", page: page([entry("a"), entry("b")], "next"), since: 0, now: NOW });
    const list = told(first, asked(entry("d")), asked(entry("e")), settled("c"));
    const after = changed(list, { type: "more", page: page([entry("b"), entry("c"), entry("d")]), now: NOW });
    expect(ids(after.rows)).toEqual(["a", "b", "d"]);
    expect(ids(after.newcomers)).toEqual(["e"]);
    expect(after.cursor).toBeNull();
  });
});

describe("whatever happens", () => {
  test("no event and no reload moves, removes or doubles a row", () => {
    let seed = 7;
    const random = (below: number) => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed % below;
    };
    const any = (): string => `r${random(12)}`;
    const happenings: (() => Change)[] = [
      () => ({ type: "told", event: asked(entry(any(), { created: -random(30), expires: random(20) })), now: NOW }),
      () => ({ type: "told", event: settled(any()), now: NOW }),
      () => ({ type: "told", event: { type: "extended", requestId: any(), expiresAt: moment(random(9)) }, now: NOW }),
      () => ({ type: "told", event: { type: "looking", requestId: any(), names: ["li"] }, now: NOW }),
      () => ({ type: "told", event: { type: "deleted", conversationId: `thread-${any()}` } as LiveEvent, now: NOW }),
    ];
    let list = placed(entry("r0"), entry("r1", { expires: 3 }), entry("r2", { expires: 30 }));
    const first = ids(list.rows);
    for (let step = 0; step < 2_000; step += 1) {
      const waiting = [...new Set(Array.from({ length: random(6) }, any))].map((id) => entry(id));
      const reload: Change = { type: "merged", page: page(waiting), since: list.turn - random(3), now: NOW };
      const happening = random(8) === 0 ? reload : happenings[random(happenings.length)]?.();
      if (happening) list = changed(list, happening);
      expect(ids(list.rows)).toEqual(first);
      const all = [...ids(list.rows), ...ids(list.newcomers)];
      expect(new Set(all).size).toBe(all.length);
    }
  });
});

describe("what is put to several people", () => {
  const votes = { yes: 1, needed: 2, refusals: 0 };
  const put = entry("a", { people: people() });
  const of = (list: List, id = "a") => list.rows.find((row) => row.entry.request_id === id)?.entry.people;

  test("tells of votes and of who has it where it stands", () => {
    const claimed: LiveEvent = { type: "claimed", requestId: "a", by: "bob", until: moment(15) };
    const list = told(placed(put, entry("b")), { type: "voted", requestId: "a", votes }, claimed);
    expect(of(list)?.votes).toEqual(votes);
    expect(of(list)?.claim).toMatchObject({ by: "bob", until: moment(15) });
    expect(of(told(list, { ...claimed, by: null, until: null }))?.claim).toBeNull();
    expect(of(told(list, { type: "voted", requestId: "b", votes }), "b")).toBeUndefined();
  });

  test("is new to whom it is put only now, and one row for all others", () => {
    const needs = { ...people().needs, candidates: ["group:pay", "person:cyd"] };
    const routed: LiveEvent = { type: "routed", entry: entry("a", { people: people({ needs }) }) };
    const known = told(placed(put), routed);
    expect(ids(known.rows)).toEqual(["a"]);
    expect(of(known)?.needs).toEqual(needs);
    const fresh = told(placed(entry("b")), routed);
    expect(ids(fresh.newcomers)).toEqual(["a"]);
  });

  test("that is not theirs any more has not ended by that", () => {
    const list = placed(put, entry("b"));
    const change = { type: "merged", page: page([entry("b")]), since: list.turn, now: NOW } as const;
    expect(changed(list, { ...change, keeps: true }).rows.every(isWaiting)).toBe(true);
    expect(changed(list, change).rows.every(isWaiting)).toBe(false);
  });
});
