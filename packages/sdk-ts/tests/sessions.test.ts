import { randomUUID } from "node:crypto";
import { describe, expect, inject, test } from "vitest";
import { Conflict, Forbidden, InterlockClient, InvalidInput, NotFound } from "../src/index.js";
import { failure, signedIn } from "./support/people.js";

describe("a session", () => {
  const client = () => new InterlockClient({ baseUrl: inject("open"), locale: "en" });
  const newUser = () => `user-${randomUUID().slice(0, 8)}`;

  test("is invoked, asks, and goes on with what the person says", async () => {
    const server = client();
    const ann = newUser();
    expect((await server.sessionStatus(ann)).status).toBe("not_found");
    const asked = await server.invoke(ann, "create hello.py");
    expect(asked.status).toBe("interrupted");
    expect(asked.interrupt_data?.action_request).toMatchObject({ action: "write_file" });
    expect((await server.sessionStatus(ann)).status).toBe("interrupted");
    expect(await failure(server.invoke(ann, "something else"))).toBeInstanceOf(Conflict);
    expect(await failure(server.resumeSession(ann, "another", "accept"))).toBeInstanceOf(InvalidInput);
    const done = await server.resumeSession(ann, asked.session_id, "accept");
    expect(done.status).toBe("completed");
    expect(done.result?.messages.at(-1)?.role).toBe("assistant");
    expect((await server.systemInfo()).active_users).toContain(ann);
    expect((await server.deleteSession(ann)).status).toBe("success");
    expect(await failure(server.deleteSession(ann))).toBeInstanceOf(NotFound);
    expect(await failure(server.deleteSession(""))).toBeInstanceOf(InvalidInput);
  });

  test("runs a tool with the person's edit", async () => {
    const server = client();
    const ann = newUser();
    const asked = await server.invoke(ann, "create before.py", { systemMessage: "Be short." });
    const args = { ...asked.interrupt_data?.action_request.args, path: "after.py" };
    const done = await server.resumeSession(ann, asked.session_id, "edit", { args });
    expect(done.status).toBe("completed");
    expect(JSON.stringify(done.result)).toContain("after.py");
    await server.deleteSession(ann);
  });

  test("is the caller's own, where there are accounts", async () => {
    const alice = await signedIn("alice");
    expect((await alice.sessionStatus("alice")).user_id).toBe("alice");
    expect(await failure(alice.invoke("bob", "hello"))).toBeInstanceOf(Forbidden);
  });

  test("that goes on while the server shuts down is waited for, and not run twice", async () => {
    const calls: string[] = [];
    const direct = client();
    const ann = newUser();
    const leaving: typeof fetch = async (input, init) => {
      const path = new URL(String(input)).pathname;
      calls.push(path);
      const response = await fetch(input, init);
      if (path !== "/agent/invoke") return response;
      const body = { detail: "closing", status: "running", session_id: "its-id" };
      return Response.json(body, { status: 503, headers: { "retry-after": "0" } });
    };
    const server = new InterlockClient({ baseUrl: inject("open"), fetch: leaving });
    expect((await server.invoke(ann, "hello")).status).toBe("completed");
    expect(calls).toEqual(["/agent/invoke", `/agent/status/${ann}`]);
    await direct.deleteSession(ann);
  });
});
