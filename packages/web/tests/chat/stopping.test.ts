import { act, renderHook, waitFor } from "@testing-library/react";
import type { Conversation as Entry } from "interlock-client/inbox";
import { afterEach, expect, it } from "vitest";
import type { Action } from "@/chat/state/conversation";
import { EMPTY } from "@/chat/state/model";
import { talkable } from "@/chat/threads";
import { useActing } from "@/chat/use-acting";

const network = globalThis.fetch;
afterEach(() => {
  globalThis.fetch = network;
});

/** What the page does when the server says this to Stop. */
async function stopped(reply: boolean): Promise<(Action["type"] | "reload")[]> {
  const done: (Action["type"] | "reload")[] = [];
  globalThis.fetch = async () => Response.json({ conversation_id: "c", stopped: reply });
  const waiting = { ...EMPTY, phase: "waiting" as const };
  const { result } = renderHook(() =>
    useActing(
      "c",
      waiting,
      (action) => done.push(action.type),
      () => done.push("reload"),
    ),
  );
  act(() => result.current.stop());
  await waitFor(() => expect(done[0]).toBe("stopping"));
  await new Promise((resolve) => setTimeout(resolve, 20));
  return done;
}

it("what was not stopped is not said to be stopping, and what waits is read again", async () => {
  expect(await stopped(true)).toEqual(["stopping"]);
  expect(await stopped(false)).toEqual(["stopping", "notStopped", "reload"]);
});

it("agents that run elsewhere are not among those that one talks to", () => {
  const entries = [
    { conversation_id: "a", outside: true },
    { conversation_id: "b", outside: false },
  ] as Entry[];
  expect(talkable(entries).map((one) => one.conversation_id)).toEqual(["b"]);
});
