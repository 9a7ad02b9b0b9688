import {
  AlreadySettled,
  Conflict,
  InvalidInput,
  NetworkError,
  NotAuthenticated,
  ServerFailed,
  ServerUnavailable,
} from "interlock-client/errors";
import type { Settled } from "interlock-client/inbox";
import { afterEach, describe, expect, it } from "vitest";
import { setPresentPerson } from "@/api/person";
import { Deliveries, type Line } from "@/request/api/deliveries";

const DONE: Settled = { request_id: "r", status: "answered", answered_at: "2026-01-01T00:00:00Z" };

/** A server that says these things, one after the other, and the last one for ever; what is asked by key comes last. */
function server(...replies: (Error | Settled | null)[]) {
  const keys: string[] = [];
  const asked: string[] = [];
  const states: (string | undefined)[] = [];
  const said = <T>(): T => {
    states.push(deliveries.get("r")?.state);
    const reply = replies[Math.min(states.length, replies.length) - 1];
    if (reply instanceof Error) throw reply;
    return reply as T;
  };
  const line: Line = {
    post: async (_path, _body, key) => {
      keys.push(key);
      return said<Settled>();
    },
    recall: async (_path, key) => {
      asked.push(key);
      return said<Settled | null>();
    },
    whose: async () => "u1",
  };
  const deliveries = new Deliveries(line, [0]);
  const sent = async () => {
    await deliveries.send("r", "/path", { value: {} }, "accept");
    return deliveries.get("r");
  };
  return { deliveries, keys, asked, states, sent };
}

describe("an answer on its way", () => {
  it("is sending until the server has said that it was taken", async () => {
    const { sent, states } = server(DONE);
    expect(await sent()).toEqual({ state: "done", act: "accept", settled: DONE });
    expect(states).toEqual(["sending"]);
  });

  it("is asked about by its key for as long as nobody knows what became of it, and not sent again", async () => {
    const lost = new NetworkError("gone");
    const { sent, keys, asked, states } = server(lost, new ServerUnavailable("starting", { status: 503 }), DONE);
    expect(await sent()).toEqual({ state: "done", act: "accept", settled: DONE });
    expect(keys).toHaveLength(1);
    expect(asked).toEqual([keys[0], keys[0]]);
    expect(states).toEqual(["sending", "unsure", "unsure"]);
  });

  it("is lost when the server took nothing, and may be sent anew under another key", async () => {
    const { deliveries, sent, keys } = server(new ServerFailed("oops", { status: 500 }), null, DONE);
    expect(await sent()).toEqual({ state: "lost", act: "accept" });
    await deliveries.send("r", "/path", {}, "accept");
    expect(deliveries.get("r")).toMatchObject({ state: "done" });
    expect(new Set(keys).size).toBe(2);
  });

  it("is not left on its way when the connection is lost", async () => {
    const recall = async () => null;
    const post: Line["post"] = (_path, _body, _key, signal) =>
      new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
    const deliveries = new Deliveries({ post, recall, whose: async () => "u1" }, [0]);
    const sending = deliveries.send("r", "/path", {}, "accept");
    deliveries.cut();
    await sending;
    expect(deliveries.get("r")).toEqual({ state: "lost", act: "accept" });
  });

  it("is not unsure when the server certainly did nothing", async () => {
    const busy = new ServerUnavailable("busy", { status: 503 });
    expect(await server(busy).sent()).toEqual({ state: "refused", act: "accept", error: busy });
    const signedOut = new NotAuthenticated("who?", { status: 401 });
    expect(await server(signedOut).sent()).toMatchObject({ state: "refused" });
  });

  it("tells what was wrong", async () => {
    const wrong = new InvalidInput("no", { status: 400 });
    expect(await server(wrong).sent()).toEqual({ state: "refused", act: "accept", error: wrong });
    const changed = new Conflict("changed", { code: "file_changed", status: 409 });
    expect(await server(changed).sent()).toMatchObject({ state: "refused", error: changed });
  });

  it("is late when somebody was first", async () => {
    const taken = new AlreadySettled("taken", { status: 409 });
    expect(await server(taken).sent()).toMatchObject({ state: "late", error: taken });
  });

  it("is sent once, however often it is pressed", async () => {
    const { deliveries, keys } = server(DONE);
    const both = [1, 2].map(() => deliveries.send("r", "/path", {}, "accept"));
    await Promise.all(both);
    await deliveries.send("r", "/path", {}, "accept");
    expect(keys).toHaveLength(1);
  });

  it("can be sent again under another key once the server has refused it", async () => {
    const { deliveries, keys, sent } = server(new InvalidInput("no", { status: 400 }), DONE);
    await sent();
    await deliveries.send("r", "/path", {}, "accept");
    expect(deliveries.get("r")).toMatchObject({ state: "done" });
    expect(new Set(keys).size).toBe(2);
  });

  it("is forgotten only when it is decided", async () => {
    const { deliveries, sent } = server(DONE);
    const sending = sent();
    deliveries.forget("r");
    expect(deliveries.get("r")?.state).toBe("sending");
    await sending;
    deliveries.forget("r");
    expect(deliveries.get("r")).toBeNull();
  });

  it("does not wait for the end of a pause when the server is there again", async () => {
    const post = async () => {
      throw new NetworkError("gone");
    };
    const deliveries = new Deliveries({ post, recall: async () => DONE, whose: async () => "u1" }, [3_600_000]);
    const sending = deliveries.send("r", "/path", {}, "accept");
    await new Promise<void>((resolve) => {
      const stop = deliveries.watch(() => {
        if (deliveries.get("r")?.state !== "unsure") return;
        stop();
        resolve();
      });
    });
    await Promise.resolve();
    deliveries.hurry();
    await sending;
    expect(deliveries.get("r")).toMatchObject({ state: "done" });
  });
});

describe("an answer whose sender has left", () => {
  afterEach(() => setPresentPerson(null));

  it("is neither sent again nor shown", async () => {
    const { deliveries, keys, sent } = server(new NetworkError("gone"));
    let sending: Promise<unknown> = Promise.resolve();
    await new Promise<void>((resolve) => {
      const stop = deliveries.watch(() => {
        if (deliveries.get("r")?.state !== "unsure") return;
        stop();
        resolve();
      });
      sending = sent();
    });
    deliveries.abandon();
    await sending;
    expect(deliveries.get("r")).toBeNull();
    expect(keys).toHaveLength(1);
  });

  it("is not taken for the next one's, even when nobody has told that they left", async () => {
    setPresentPerson("u1");
    const gone = async () => {
      throw new NetworkError("gone");
    };
    let asked = 0;
    const whose = async () => {
      asked += 1;
      return asked < 2 ? "u1" : "u2";
    };
    const deliveries = new Deliveries({ post: gone, recall: gone, whose }, [0]);
    await deliveries.send("r", "/path", {}, "accept");
    expect(asked).toBe(2);
    expect(deliveries.get("r")).toEqual({ state: "unsure", act: "accept" });
  });
});
