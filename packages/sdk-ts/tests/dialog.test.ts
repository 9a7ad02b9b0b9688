import { randomUUID } from "node:crypto";
import { Window } from "happy-dom";
import { afterEach, beforeEach, describe, expect, inject, test } from "vitest";
import { WebSocket } from "ws";
import { type Approval, InterlockClient, InvalidInput, WebConfirmationHandler } from "../src/index.js";
import { answers, failure, until } from "./support/people.js";

const HOSTILE = '"><img src=x onerror="alert(1)"><script>alert(2)</script>\u202e\u200b\x1b[0m';
const SHOWN = '"><img src=x onerror="alert(1)"><script>alert(2)</script>\\u202e\\u200b\\x1b[0m';
/** Everything that a dialog of ours is made of. */
const OURS = new Set(
  "DIALOG DIV H3 P STRONG SPAN DETAILS SUMMARY PRE BUTTON LABEL INPUT SELECT OPTION OUTPUT".split(" "),
);

describe("a page", () => {
  let window: Window;
  let body: HTMLElement;
  let handler: WebConfirmationHandler;
  let agent: InterlockClient;

  beforeEach(async () => {
    const user = `user-${randomUUID().slice(0, 8)}`;
    window = new Window();
    body = window.document.body as unknown as HTMLElement;
    handler = new WebConfirmationHandler(inject("open"), { WebSocket, user, locale: "en", container: body });
    agent = new InterlockClient({ baseUrl: inject("open"), user });
    const begun = agent.askClarification("Shall we begin?");
    await answers(agent, agent, { answer: "yes" });
    await begun;
    await handler.joinSession(String(agent.conversationId), { batchSize: 5 });
  });
  afterEach(async () => {
    handler.close();
    await window.happyDOM.close();
  });

  const dialog = () => until(() => body.querySelector("dialog"), Boolean) as Promise<HTMLDialogElement>;
  const gone = () =>
    until(
      () => body.querySelector("dialog"),
      (found) => found === null,
    );
  const button = (of: Element, name: string) => of.querySelector(`.${name}`) as HTMLButtonElement;
  const type = (of: Element, selector: string, text: string) => {
    const input = of.querySelector(selector) as HTMLInputElement;
    input.value = text;
    input.dispatchEvent(new window.Event("input") as unknown as Event);
  };
  const press = (of: Element, key: string) => {
    const event = new window.KeyboardEvent("keydown", { key, bubbles: true, cancelable: true });
    return of.dispatchEvent(event as unknown as Event);
  };

  test("shows what an agent says as text, and makes no element of it", async () => {
    const asked = agent.askApproval(`tool${HOSTILE}`, { [HOSTILE]: HOSTILE }, { description: HOSTILE });
    const shown = await dialog();
    expect(shown.open).toBe(true);
    const made = [...body.querySelectorAll("*")].map((element) => element.tagName);
    expect(made.filter((name) => !OURS.has(name))).toEqual([]);
    expect(shown.querySelector(".dialog-tool span")?.textContent).toBe(`tool${SHOWN}`);
    expect(shown.querySelector(".dialog-description span")?.textContent).toBe(SHOWN);
    expect(shown.querySelector(".tool-args")?.textContent).toContain("\\u202e\\u200b\\u001b[0m");
    expect(shown.textContent).not.toMatch(/\p{Cf}/u);
    expect([...body.querySelectorAll("*")].flatMap((one) => one.getAttributeNames())).not.toContain("onerror");
    button(shown, "confirm-btn").click();
    expect((await asked).granted).toBe(true);
    await gone();
  });

  test("shows what an agent asks as text, too", async () => {
    const asked = agent.askDecision(HOSTILE, [{ key: "a", label: HOSTILE }, "b"], { risks: [HOSTILE] });
    const shown = await dialog();
    const made = [...body.querySelectorAll("*")].map((element) => element.tagName);
    expect(made.filter((name) => !OURS.has(name))).toEqual([]);
    expect(shown.querySelector(".field-label")?.textContent).toBe(`${SHOWN}\n! ${SHOWN}`);
    const select = shown.querySelector("select") as HTMLSelectElement;
    button(shown, "confirm-btn").click();
    expect(shown.querySelector(".dialog-hint")?.textContent).toBe("Fill in everything that is required");
    select.value = "a";
    button(shown, "confirm-btn").click();
    expect((await asked).decision).toBe("a");
  });

  test("does not confirm with Enter, and refuses with Escape", async () => {
    const asked = agent.askApproval("note", { text: "a" });
    const shown = await dialog();
    expect(press(button(shown, "confirm-btn"), "Enter")).toBe(false);
    expect(press(shown, "Enter")).toBe(false);
    expect(press(button(shown, "confirm-btn"), " ")).toBe(true);
    expect(shown.querySelector("form")).toBeNull();
    expect(handler.getPendingConfirmations()).toHaveLength(1);
    shown.dispatchEvent(new window.Event("cancel", { cancelable: true }) as unknown as Event);
    expect(await asked).toMatchObject({ granted: false, message: "Cancelled by the user" });
    await gone();
  });

  test("wants the tool's name where the risk is high", async () => {
    const asked = agent.askApproval("drop_table", { table: "users" }, { riskLevel: "critical" });
    const shown = await dialog();
    const confirm = button(shown, "confirm-btn");
    expect(confirm.disabled).toBe(true);
    type(shown, ".tool-name", "drop");
    expect(confirm.disabled).toBe(true);
    type(shown, ".tool-name", " drop_table ");
    expect(confirm.disabled).toBe(false);
    confirm.click();
    expect((await asked).granted).toBe(true);
  });

  test("shows one dialog at a time, and takes no second click for the next", async () => {
    const order = ["first", "second"];
    const asked: Promise<Approval>[] = [];
    for (const name of order) {
      asked.push(agent.askApproval(name, {}));
      await until(
        () => handler.getPendingConfirmations(),
        (found) => found.length === asked.length,
      );
    }
    const first = await dialog();
    expect(body.querySelectorAll("dialog")).toHaveLength(1);
    expect(first.querySelector(".dialog-tool span")?.textContent).toBe("first");
    button(first, "confirm-btn").click();
    const second = await dialog();
    expect(second.querySelector(".dialog-tool span")?.textContent).toBe("second");
    const twice = new window.MouseEvent("click", { detail: 2, bubbles: true }) as unknown as Event;
    button(second, "confirm-btn").dispatchEvent(twice);
    expect(handler.getPendingConfirmations()).toHaveLength(1);
    button(second, "cancel-btn").click();
    expect((await Promise.all(asked)).map((one) => one.granted)).toEqual([true, false]);
  });

  test("takes words, choices and secrets", async () => {
    const worded = agent.askClarification("Which?", { options: ["red", "blue"] });
    const shown = await dialog();
    type(shown, ".field-input", " green ");
    button(shown, "confirm-btn").click();
    expect(await worded).toBe("green");
    await gone();
    const questions = agent.askQuestions(["One?", { question: "Two?", options: ["x", "y"] }]);
    const form = await dialog();
    const inputs = form.querySelectorAll(".dialog-field");
    type(inputs[0] as Element, "input", "1");
    (inputs[1]?.querySelector("select") as HTMLSelectElement).value = "y";
    button(form, "confirm-btn").click();
    expect(await questions).toEqual(["1", "y"]);
    await gone();
    const secret = agent.askEnvVars([{ name: "TOKEN" }, { name: "NOTE", required: false, sensitive: false }]);
    const asking = await dialog();
    expect((asking.querySelector("input") as HTMLInputElement).type).toBe("password");
    type(asking, "input", " s3cret ");
    button(asking, "confirm-btn").click();
    expect(await secret).toEqual({ TOKEN: " s3cret " });
  });

  test("closes the dialog when the request is over elsewhere, and when it is left", async () => {
    const asked = agent.askApproval("note", {});
    await dialog();
    await answers(agent, agent, { granted: false });
    expect((await asked).granted).toBe(false);
    await gone();
    const stop = new AbortController();
    const left = failure(agent.askApproval("note", {}, { signal: stop.signal }));
    await dialog();
    handler.close();
    await gone();
    stop.abort();
    await left;
  });

  test("tells its person of errors as text", () => {
    handler.showNotification(HOSTILE, "error");
    expect(body.querySelector("output")?.textContent).toBe(SHOWN);
    expect(body.querySelector("img")).toBeNull();
    expect(() => new WebConfirmationHandler(inject("open"), { WebSocket })).toThrow(InvalidInput);
  });
});
