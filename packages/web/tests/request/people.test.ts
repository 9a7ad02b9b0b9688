import type { InboxRequest, People } from "interlock-client/inbox";
import { describe, expect, it } from "vitest";
import { changedBy } from "@/request/api/use-request";
import { neededCode } from "@/request/model/codes";
import { situationOf } from "@/request/model/outcome";
import { asOffered, barOf, claimAt, isBlind, leftOut, whoOf } from "@/request/model/people";
import { people, request } from "./request";

function put(given: Partial<People> = {}, more: Partial<InboxRequest> = {}): InboxRequest {
  return request({ people: people(given), ...more });
}

const ONE = { needs: { people: 1, candidates: ["person:bob"], separate: false, code: false }, votes: null };

describe("what is offered", () => {
  it("is everything where nobody is named", () => {
    const plain = request();
    expect(asOffered(plain)).toBe(plain);
    expect(leftOut(plain)).toBeNull();
  });

  it("is yes and no where several people decide, and says what is left out", () => {
    expect(asOffered(put())).toMatchObject({ allowed: ["accept", "reject"], allow_remember: false, code: "0017" });
    expect(leftOut(put())).toBe("several");
    expect(leftOut(put({}, { allowed: ["accept", "reject"], allow_remember: false }))).toBeNull();
  });

  it("is all but remembering where one of those who are named is enough", () => {
    expect(asOffered(put(ONE)).allowed).toEqual(["accept", "edit", "reject", "response"]);
    expect(asOffered(put(ONE)).allow_remember).toBe(false);
    expect(leftOut(put(ONE))).toBe("remember");
  });

  it("is no yes, and no code for one, to who may not say yes", () => {
    const barred = put({ may_answer: false }, { risk: "high" });
    expect(asOffered(barred)).toMatchObject({ allowed: ["reject"], code: null });
    expect(leftOut(barred)).toBeNull();
    expect(neededCode(asOffered(barred), "look", null, {})).toBeNull();
  });

  it("takes the code where the terms want one, however small the risk, and not of a refusal", () => {
    const coded = put({ needs: { people: 2, candidates: [], separate: true, code: true } }, { risk: "low" });
    expect(neededCode(coded, "look", null, {})).toBe("0017");
    expect(neededCode(coded, "refuse", null, {})).toBeNull();
    expect(neededCode(put({}, { risk: "low" }), "look", null, {})).toBeNull();
  });
});

describe("why there is no yes", () => {
  const separate = { people: 2, candidates: ["group:payments"], separate: true, code: false };
  it.each([
    [{ may_answer: true }, null],
    [{ may_answer: false, needs: separate, excluded: true }, "asked"],
    [{ may_answer: false, needs: { ...separate, separate: false }, excluded: true }, "passedOn"],
    [{ may_answer: false, needs: { ...separate, separate: false }, excluded: false }, "named"],
    [{ may_answer: false, needs: { ...separate, separate: false, candidates: [] }, excluded: false }, "others"],
  ] as const)("%#: %j", (given, why) => {
    expect(barOf(put(given as Partial<People>), "ann")).toBe(why);
  });

  it("does not say of another one that they asked for certain", () => {
    expect(barOf(put({ may_answer: false, needs: separate, excluded: true }), "bob")).toBe("askedOrPassedOn");
  });
});

describe("where it stands", () => {
  const now = { delivery: null, wasOpen: true, isOverdue: false, isDeleted: false, isOffline: false };

  it("is theirs to wait for once their yes is in, until the end, at which nobody took it from them", () => {
    expect(situationOf({ ...now, request: put() })).toBe("open");
    expect(situationOf({ ...now, request: put({ own_vote: "yes" }) })).toBe("voted");
    expect(situationOf({ ...now, request: put({ own_vote: "no" }) })).toBe("open");
    expect(situationOf({ ...now, request: put({ own_vote: "yes" }, { status: "answered" }) })).toBe("settled");
    expect(situationOf({ ...now, request: put({}, { status: "answered" }) })).toBe("taken");
  });

  it("is no receipt while more are needed", () => {
    const settled = { request_id: "perm_1", answered_at: "2026-01-01T10:00:05Z" } as const;
    const sent = (status: "pending" | "answered") =>
      situationOf({
        ...now,
        request: put(),
        delivery: { state: "done", act: "accept", settled: { ...settled, status } },
      });
    expect(sent("pending")).toBe("voted");
    expect(sent("answered")).toBe("receipt");
  });

  it("takes the count from the stream, and one's own vote from nothing but the server's word on it", () => {
    const votes = { yes: 1, needed: 2, refusals: 0 };
    expect(changedBy(put(), { type: "voted", requestId: "perm_1", votes }).people).toMatchObject({
      votes,
      own_vote: null,
    });
    expect(changedBy(put(), { type: "voted", requestId: "other", votes })).toEqual(put());
    expect(changedBy(request(), { type: "voted", requestId: "perm_1", votes })).toEqual(request());
  });

  it("hides others' votes until one's own is given", () => {
    expect(isBlind(put())).toBe(true);
    expect(isBlind(put({ own_vote: "yes" }))).toBe(false);
    expect(isBlind(put({}, { status: "answered" }))).toBe(false);
    expect(isBlind(put(ONE))).toBe(false);
  });
});

it("knows a claim until its time is over", () => {
  const claim = { by: "bob", mine: false, until: "2026-01-01T10:15:00Z" };
  const at = (time: string) => claimAt(put({ claim }), Date.parse(time));
  expect(at("2026-01-01T10:14:59Z")).toEqual(claim);
  expect(at("2026-01-01T10:15:00Z")).toBeNull();
  expect(claimAt(request(), 0)).toBeNull();
});

it("names people and groups without what they are", () => {
  expect(whoOf({ candidates: ["group:payments", "person:ann:b"] })).toBe("payments, ann:b");
});
