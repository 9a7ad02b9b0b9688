import { describe, expect, test } from "vitest";
import { Conflict, Forbidden, InterlockClient, InvalidInput, NotFound } from "../src/index.js";
import { failure, signedIn, someone } from "./support/people.js";

describe("a session", () => {
  test("is invoked, asks, and goes on with what the person says", async () => {
    const ann = someone({ locale: "en" });
    expect((await ann.sessionStatus()).status).toBe("not_found");
    const asked = await ann.invoke("create hello.py");
    expect(asked.status).toBe("interrupted");
    expect(asked.interrupt_data?.action_request).toMatchObject({ action: "write_file" });
    expect((await ann.sessionStatus()).status).toBe("interrupted");
    expect(await failure(ann.invoke("something else"))).toBeInstanceOf(Conflict);
    const wrong = ann.resumeSession("another", "accept");
    expect(await failure(wrong)).toBeInstanceOf(InvalidInput);
    const done = await ann.resumeSession(asked.session_id, "accept");
    expect(done.status).toBe("completed");
    expect(done.result?.messages.at(-1)?.role).toBe("assistant");
    expect((await ann.systemInfo()).sessions_count).toBeGreaterThan(0);
    expect((await ann.deleteSession()).status).toBe("success");
    expect(await failure(ann.deleteSession())).toBeInstanceOf(NotFound);
  });

  test("runs a tool with the person's edit", async () => {
    const ann = someone({ locale: "en" });
    const asked = await ann.invoke("create before.py", { systemMessage: "Be short." });
    const args = { ...asked.interrupt_data?.action_request.args, path: "after.py" };
    const done = await ann.resumeSession(asked.session_id, "edit", { args });
    expect(done.status).toBe("completed");
    expect(JSON.stringify(done.result)).toContain("after.py");
    await ann.deleteSession();
  });

  test("is the user's own, where there are accounts", async () => {
    const alice = await signedIn("alice");
    expect((await alice.sessionStatus()).user_id).toBe("alice");
    expect(await failure(alice.invoke("hello", { user: "bob" }))).toBeInstanceOf(Forbidden);
  });

  test("needs a user", async () => {
    const nobody = new InterlockClient({ baseUrl: someone().baseUrl });
    expect(await failure(nobody.invoke("hello"))).toBeInstanceOf(InvalidInput);
  });
});
