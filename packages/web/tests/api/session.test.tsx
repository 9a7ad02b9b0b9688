import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, renderHook, waitFor } from "@testing-library/react";
import type { ReactNode } from "react";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { presentPerson, setPresentPerson } from "@/api/person";
import { forgetPerson, SESSION, useSamePerson } from "@/api/session";
import { tellTabs } from "@/api/tabs";
import { deliveries } from "@/request/api/deliveries";

const network = globalThis.fetch;
let client: QueryClient;

function around({ children }: { children: ReactNode }) {
  return <QueryClientProvider client={client}>{children}</QueryClientProvider>;
}

/** The server says that this one is signed in; null: nobody is. */
function signedIn(userId: string | null): void {
  globalThis.fetch = async () =>
    userId
      ? Response.json({ user_id: userId, server_time: "2026-01-01T10:00:00Z" })
      : Response.json({ detail: "who?", code: "not_authenticated" }, { status: 401 });
}

beforeEach(() => {
  client = new QueryClient();
  client.setQueryData(SESSION, { user_id: "u1" });
  client.setQueryData(["request", "r"], { secret: true });
  sessionStorage.setItem("interlock.draft.r", "{}");
  setPresentPerson("u1");
});

afterEach(() => {
  cleanup();
  setPresentPerson(null);
  globalThis.fetch = network;
});

const unheard = () => {};

function isForgotten(): boolean {
  return client.getQueryData(["request", "r"]) === undefined && sessionStorage.length === 0;
}

describe("whoever leaves", () => {
  it("leaves nothing behind, and no answer on its way", async () => {
    globalThis.fetch = async () => {
      throw new TypeError("gone");
    };
    const sending = deliveries.send("r", "/path", {}, "accept");
    await waitFor(() => expect(deliveries.get("r")?.state).toBe("unsure"));
    forgetPerson(client);
    await sending;
    expect(deliveries.get("r")).toBeNull();
    expect(isForgotten()).toBe(true);
    expect(client.getQueryData(SESSION)).toBeNull();
    expect(presentPerson()).toBeNull();
  });

  it("leaves all tabs", async () => {
    renderHook(() => useSamePerson("u1", unheard), { wrapper: around });
    act(() => tellTabs("left"));
    await waitFor(() => expect(isForgotten()).toBe(true));
  });

  it("is noticed when the tab is looked at again, and somebody else is there", async () => {
    signedIn("u2");
    renderHook(() => useSamePerson("u1", unheard), { wrapper: around });
    act(() => void document.dispatchEvent(new Event("visibilitychange")));
    await waitFor(() => expect(isForgotten()).toBe(true));
    expect(client.getQueryData<{ user_id: string }>(SESSION)?.user_id).toBe("u2");
  });

  it("keeps what they have begun while nobody else has come", async () => {
    const heard: boolean[] = [];
    signedIn(null);
    renderHook(() => useSamePerson("u1", (isSignedIn) => heard.push(isSignedIn)), { wrapper: around });
    act(() => void document.dispatchEvent(new Event("visibilitychange")));
    await waitFor(() => expect(heard).toEqual([false]));
    expect(isForgotten()).toBe(false);
    signedIn("u1");
    act(() => tellTabs("came"));
    await waitFor(() => expect(heard).toEqual([false, true]));
  });

  it("has not left while they are still the same", async () => {
    signedIn("u1");
    renderHook(() => useSamePerson("u1", unheard), { wrapper: around });
    act(() => void document.dispatchEvent(new Event("visibilitychange")));
    act(() => tellTabs("came"));
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(isForgotten()).toBe(false);
  });
});
