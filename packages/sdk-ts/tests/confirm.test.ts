import { randomUUID } from "node:crypto";
import { afterEach, describe, expect, inject, test } from "vitest";
import { WebSocket } from "ws";
import {
  AgentEvents,
  ConfirmationError,
  ConfirmationHandler,
  type ConfirmationRequest,
  ConnectionLost,
  DEFAULT_CONFIG,
  ErrorHandlingConfirmationClient,
  InterlockClient,
  InvalidInput,
  InvalidStepId,
  type LinkOptions,
  MyAgentConfirmationHandler,
  UserEvents,
} from "../src/index.js";
import { Recorder } from "./support/handlers.js";
import { failure, signedIn, until } from "./support/people.js";

const open: ConfirmationHandler[] = [];
afterEach(() => {
  for (const handler of open.splice(0)) handler.close();
});

function recorder(options: LinkOptions = {}, url = inject("open")): Recorder {
  const handler = new Recorder(url.replace("http", "ws"), { user: `user-${randomUUID().slice(0, 8)}`, ...options });
  open.push(handler);
  return handler;
}

async function asked(handler: Recorder, count = 1): Promise<ConfirmationRequest> {
  await until(
    () => handler.asked.length,
    (seen) => seen >= count,
  );
  return handler.asked[count - 1] as ConfirmationRequest;
}

describe("a confirmation handler", () => {
  test("has the names that its source document gives", () => {
    expect(MyAgentConfirmationHandler).toBe(ConfirmationHandler);
    expect(UserEvents.CREATE_SESSION).toBe("user.create_session");
    expect(AgentEvents.USER_CONFIRM).toBe("agent.user_confirm");
    expect(DEFAULT_CONFIG).toEqual({
      confirmationTimeout: 300000,
      autoReconnect: true,
      reconnectInterval: 3000,
      maxReconnectAttempts: 5,
      showDetailedErrors: true,
    });
    expect(() => recorder({ config: { reconectInterval: 1 } as object })).toThrow(InvalidInput);
    expect(() => recorder({}, "ftp://127.0.0.1")).toThrow(InvalidInput);
  });

  test("confirms a tool, which then runs", async () => {
    const handler = recorder();
    await handler.connect();
    expect(await handler.createSession("demo")).toMatch(/^sess_/);
    await handler.sendMessage("create hello.py");
    const request = await asked(handler);
    expect(request).toMatchObject({ toolName: "write_file", kind: "approval", riskLevel: "medium" });
    expect(request.toolArgs).toMatchObject({ path: "hello.py" });
    expect(handler.getPendingConfirmation(request.stepId)).toEqual(request);
    expect(handler.getPendingConfirmations()).toEqual([request]);
    handler.sendConfirmation(request.stepId, { confirmed: true, reason: "go on", userId: "ann" });
    expect(handler.getPendingConfirmations()).toEqual([]);
    expect(() => handler.sendConfirmation(request.stepId, { confirmed: false })).toThrow(InvalidStepId);
    await until(() => handler.answers.length, Boolean);
    const names = handler.events.map((event) => event.event);
    expect(names).toEqual(expect.arrayContaining(["system.connected", "agent.thinking", "agent.tool_call"]));
    expect(handler.errors).toEqual([]);
  });

  test("refuses a tool with a reason, and the agent goes on", async () => {
    const handler = recorder();
    await handler.sendMessage("delete hello.py");
    const request = await asked(handler);
    expect(request.riskLevel).toBe("high");
    handler.sendConfirmation(request.stepId, { confirmed: false, reason: "too important" });
    const isResult = (name: string) => name === AgentEvents.TOOL_RESULT;
    const result = await until(() => handler.events.find(({ event }) => isResult(event)), Boolean);
    expect(result).toMatchObject({ step_id: request.stepId, metadata: { status: "failed" } });
    await until(() => handler.answers.length, Boolean);
  });

  test("answers what is no approval", async () => {
    const handler = recorder();
    await handler.sendMessage("ask me three questions");
    const request = await asked(handler);
    expect(request.kind).toBe("questions");
    // A yes is no answer: it is asked anew.
    handler.sendConfirmation(request.stepId, { confirmed: true });
    await asked(handler, 2);
    expect(handler.errors.map((error) => error.error_type)).toEqual(["invalid_message"]);
    const answers = (request.request.questions as unknown[]).map(() => "A");
    const options = request.request.questions as { options: { value: string }[] }[];
    const fitting = answers.map((own, place) => options[place]?.options[0]?.value ?? own);
    handler.sendConfirmation(request.stepId, { confirmed: true, metadata: { response: { answers: fitting } } });
    await until(() => handler.answers.length, Boolean);
  });

  test("is told what it missed when the connection broke, and asked once", async () => {
    const handler = recorder({ config: { reconnectInterval: 20 } });
    await handler.sendMessage("create hello.py");
    const request = await asked(handler);
    handler.drop();
    await until(
      () => handler.events.filter((one) => one.event === "system.connected").length,
      (count) => count === 2,
    );
    await until(
      () => handler.events.filter((one) => one.event === AgentEvents.USER_CONFIRM).length,
      (count) => count === 2,
    );
    expect(handler.asked).toHaveLength(1);
    handler.sendConfirmation(request.stepId, { confirmed: true });
    handler.drop();
    await until(() => handler.answers.length, Boolean);
    expect(handler.errors).toEqual([]);
  });

  test("closes what somebody else has refused", async () => {
    const user = `user-${randomUUID().slice(0, 8)}`;
    const handler = recorder({ user });
    await handler.sendMessage("create hello.py");
    const request = await asked(handler);
    const other = new InterlockClient({ baseUrl: inject("open"), user });
    const requestId = String(handler.events.find((one) => one.step_id === request.stepId)?.metadata.request_id);
    await other.respond(requestId, { granted: false });
    await until(
      () => handler.overSteps,
      (steps) => steps.includes(request.stepId),
    );
    handler.sendConfirmation(request.stepId, { confirmed: true });
    const late = await until(() => handler.errors[0], Boolean);
    expect(late).toBeInstanceOf(InvalidStepId);
    expect(late?.details).toMatchObject({ status: "answered", answered_by: user });
  });

  test("gives up for its person after its own time", async () => {
    const handler = recorder({ config: { confirmationTimeout: 50 } });
    await handler.sendMessage("create hello.py");
    const error = await until(() => handler.errors[0], Boolean);
    expect(error).toMatchObject({ error_type: "timeout", timeout_seconds: 0.05, code: "timeout" });
    expect(handler.getPendingConfirmations()).toEqual([]);
    expect(handler.overSteps).toHaveLength(1);
  });

  test("goes on with a session that another one began", async () => {
    const user = `user-${randomUUID().slice(0, 8)}`;
    const before = recorder({ user });
    await before.sendMessage("create hello.py");
    const request = await asked(before);
    before.close();
    const handler = recorder({ user });
    await handler.joinSession(String(before.sessionId), { lastSeq: before.lastSeq });
    expect(await asked(handler)).toEqual(request);
    handler.sendConfirmation(request.stepId, { confirmed: true });
    await until(() => handler.answers.length, Boolean);
    expect(await failure(handler.joinSession("sess_unknown"))).toMatchObject({ error_type: "session_not_found" });
    expect(handler.sessionId).toBe(before.sessionId);
  });

  test("stops the agent", async () => {
    const handler = recorder();
    await handler.sendMessage("create hello.py");
    await asked(handler);
    await handler.cancel();
    await until(() => handler.events.some((one) => one.event === AgentEvents.INTERRUPTED), Boolean);
  });

  test("is let in with a ticket, and turned away without a credential that holds", async () => {
    const alice = await signedIn("alice");
    const { key } = await alice.createKey("socket");
    const closed = inject("closed");
    const handler = recorder({ key, user: undefined }, closed);
    await handler.sendMessage("create hello.py");
    const request = await asked(handler);
    handler.sendConfirmation(request.stepId, { confirmed: true });
    await until(() => handler.answers.length, Boolean);
    const stranger = recorder({ token: "no.such.token" }, closed);
    expect(await failure(stranger.connect())).toMatchObject({ code: "not_authenticated", status: 401 });
    expect(stranger.errors.map((error) => error.error_type)).toEqual(["not_authenticated"]);
    const nobody = recorder({ config: { autoReconnect: false } }, closed);
    expect(await failure(nobody.connect())).toBeInstanceOf(ConnectionLost);
  });

  test("says so when the connection is gone for good, and may connect again", async () => {
    const nowhere = recorder({ config: { reconnectInterval: 1, maxReconnectAttempts: 2 } }, "http://127.0.0.1:9");
    expect(await failure(nowhere.connect())).toBeInstanceOf(ConnectionLost);
    await until(
      () => nowhere.errors,
      (errors) => errors.length === 1,
    );
    expect(() => nowhere.sendConfirmation("step_1", { confirmed: true })).toThrow("Session not established");
    const handler = recorder();
    await handler.sendMessage("create hello.py");
    const request = await asked(handler);
    handler.close();
    await until(
      () => handler.isConnected,
      (connected) => !connected,
    );
    expect(() => handler.sendConfirmation(request.stepId, { confirmed: true })).toThrow(ConnectionLost);
    expect(handler.getPendingConfirmations()).toEqual([request]);
    await handler.connect();
    handler.sendConfirmation(request.stepId, { confirmed: true });
    await until(() => handler.answers.length, Boolean);
  });

  test("reports that its own code failed, and the step is still pending", async () => {
    class Broken extends Recorder {
      protected override onConfirmationRequested(): void {
        throw new Error("oh");
      }
    }
    const handler = new Broken(inject("open"), { user: `user-${randomUUID().slice(0, 8)}` });
    open.push(handler);
    await handler.sendMessage("create hello.py");
    const error = await until(() => handler.errors[0], Boolean);
    expect(error).toMatchObject({ error_type: "handler_failed" });
    expect(handler.getPendingConfirmations()).toHaveLength(1);
  });
});

describe("a client that handles errors", () => {
  class Told extends ErrorHandlingConfirmationClient {
    readonly notices: string[] = [];
    protected override onConfirmationRequested(): void {}
    override showNotification(message: string, level = "info"): void {
      this.notices.push(`${level}: ${message}`);
    }
    lose(): void {
      this.sessionId = "sess_unknown";
    }
  }

  test("tells the person, clears what is over, and connects again", async () => {
    const user = `user-${randomUUID().slice(0, 8)}`;
    const client = new Told(inject("open"), { WebSocket, user, locale: "en" });
    open.push(client);
    await client.sendMessage("create hello.py");
    const [pending] = await until(
      () => client.getPendingConfirmations(),
      (found) => found.length === 1,
    );
    client.handleConfirmationError(
      new ConfirmationError("late", {
        error_type: "timeout",
        step_id: pending?.stepId,
        details: { timeout_seconds: 300 },
      }),
    );
    expect(client.getPendingConfirmations()).toEqual([]);
    client.handleConfirmationError(new ConfirmationError("gone", { error_type: "network_error" }));
    client.handleConfirmationError(new ConfirmationError("odd", { error_type: "something_else" }));
    client.lose();
    await client.sendMessage("hello");
    await until(
      () => client.notices.length,
      (count) => count >= 4,
    );
    expect(client.notices).toEqual([
      "warning: The confirmation timed out (300 s)",
      "error: The connection is lost: gone",
      "error: something_else: odd",
      "error: The session has expired; connect again",
    ]);
    await client.connect();
    expect(await client.createSession()).toMatch(/^sess_/);
  });
});
