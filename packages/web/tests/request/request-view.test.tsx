import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, cleanup, fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import type { InboxRequest } from "interlock-client/inbox";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LiveProvider } from "@/api/live-context";
import { useSession } from "@/api/session";
import { setLocale } from "@/api/transport";
import { Texts } from "@/i18n/provider";
import { prefer } from "@/preferences/store";
import { deliveries } from "@/request/api/deliveries";
import { RequestView } from "@/request/request-view";
import { Announcer } from "@/shell/announcer";
import { people, request } from "./request";
import { TestServer } from "./server";

/** This environment lays nothing out: the end of what will run is on the screen when a test says so. */
let showEnd: () => void = () => {};
let isEndShown = true;

class Observer {
  constructor(readonly tell: IntersectionObserverCallback) {}
  observe(): void {
    showEnd = () => this.tell([{ intersectionRatio: 1 } as IntersectionObserverEntry], this as never);
    if (isEndShown) queueMicrotask(() => act(() => showEnd()));
  }
  disconnect(): void {}
  unobserve(): void {}
}

function Page({ embedded }: { embedded: boolean }) {
  const session = useSession();
  return session.data ? <RequestView id="perm_1" embedded={embedded} /> : null;
}

let server: TestServer;
let now = 0;

async function open(given: Partial<InboxRequest>, { embedded = false, isAdvised = false } = {}): Promise<HTMLElement> {
  server = new TestServer(request(given));
  server.isAdvised = isAdvised;
  const address = await server.start();
  (globalThis as unknown as { happyDOM: { setURL(url: string): void } }).happyDOM.setURL(address);
  setLocale("en");
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <Texts>
        <Announcer>
          <LiveProvider isEnded={false} onSignedOut={() => {}}>
            <Page embedded={embedded} />
          </LiveProvider>
        </Announcer>
      </Texts>
    </QueryClientProvider>,
  );
  const bar = await screen.findByRole(embedded ? "group" : "region", { name: "Answer" });
  pass(1_000);
  return bar;
}

function pass(milliseconds: number): void {
  now += milliseconds;
}

function press(key: string, target: Element = document.body, more: KeyboardEventInit = {}): void {
  fireEvent.keyDown(target, { key, ...more });
}

const answers = () => server.sent.filter((one) => one.path.endsWith("/answer"));

beforeEach(() => {
  prefer({ language: "en" });
  sessionStorage.clear();
  isEndShown = true;
  now = 10_000;
  vi.stubGlobal("IntersectionObserver", Observer);
  vi.spyOn(performance, "now").mockImplementation(() => now);
});

afterEach(() => {
  cleanup();
  deliveries.forget("perm_1");
  server.stop();
  vi.unstubAllGlobals();
  vi.restoreAllMocks();
});

describe("an approval", () => {
  it("is sent with what was shown, and shows the receipt only then", async () => {
    const bar = await open({});
    fireEvent.click(await within(bar).findByRole("button", { name: /^Approve/ }));
    await within(bar).findByText(/Approved at/);
    expect(answers()).toHaveLength(1);
    expect(answers()[0]?.key).toBeTruthy();
    expect(answers()[0]?.body).toMatchObject({ value: { decision: "accept" }, digest: "00000011aaaa" });
    expect(answers()[0]?.body).toHaveProperty("dwell_ms");
    expect(document.activeElement?.textContent).toMatch(/Approved at/);
  });

  it("is followed until what it allowed has ended, and shows what came of it", async () => {
    const bar = await open({});
    fireEvent.click(await within(bar).findByRole("button", { name: /^Approve/ }));
    await within(bar).findByText(/Approved at/);
    const settled = {
      status: "answered",
      answered_by: "ann",
      answered_at: "2026-01-01T10:00:05Z",
      source: "web",
    } as const;
    const approved = { ...server.request, ...settled, response: { decision: "accept" } };
    server.request = { ...approved, result: { status: "running", output: "" } };
    server.tell("settled", { ...settled, request_id: "perm_1", conversation_id: "t", value: { decision: "accept" } });
    await within(bar).findByText(/Approved at .* is running\./);
    server.request = { ...approved, result: { status: "failed", output: "no such file" } };
    await within(bar).findByText(/Approved at .* ran and failed\./);
    await screen.findByText("no such file");
  });

  it("that was given before says what came of it", async () => {
    const settled = { status: "answered", answered_by: "ben", answered_at: "2026-01-01T10:00:05Z" } as const;
    const result = { status: "success", output: "Deleted hello.py." } as const;
    const bar = await open({ ...settled, response: { decision: "accept" }, result });
    await within(bar).findByText(/ben approved this at .* has run\./);
    await screen.findByText("Deleted hello.py.");
  });

  it("does not count what is pressed in the first half second", async () => {
    const bar = await open({});
    pass(-900);
    fireEvent.click(await within(bar).findByRole("button", { name: /^Approve/ }));
    press("r");
    expect(within(bar).queryByRole("textbox")).toBeNull();
    expect(answers()).toEqual([]);
  });

  it("is off until the end was on the screen", async () => {
    isEndShown = false;
    const bar = await open({});
    const approve = within(bar).getByRole("button", { name: /^Approve/ });
    expect(approve.getAttribute("aria-disabled")).toBe("true");
    fireEvent.click(approve);
    expect(answers()).toEqual([]);
    act(() => showEnd());
    expect(approve.getAttribute("aria-disabled")).toBe("false");
  });

  it("takes two keys, and no Enter", async () => {
    const bar = await open({});
    const approve = await within(bar).findByRole("button", { name: /^Approve/ });
    await waitFor(() => expect(approve.getAttribute("aria-disabled")).toBe("false"));
    expect(fireEvent.keyDown(approve, { key: "Enter" })).toBe(false);
    press("Enter", approve, { ctrlKey: true });
    press("a");
    await within(bar).findByText(/exactly as shown/);
    press("a");
    press("Escape");
    expect(within(bar).queryByText(/exactly as shown/)).toBeNull();
    expect(answers()).toEqual([]);
    press("a");
    pass(500);
    press("a");
    await within(bar).findByText(/Approved at/);
    expect(answers()).toHaveLength(1);
  });

  it("of high risk needs the digits, and says where they stand", async () => {
    const bar = await open({ risk: "high", code: "4827" });
    const approve = within(bar).getByRole("button", { name: /Approve/ });
    fireEvent.click(approve);
    expect(answers()).toEqual([]);
    fireEvent.change(within(bar).getByLabelText("Code"), { target: { value: "4827" } });
    await waitFor(() => expect(approve.getAttribute("aria-disabled")).toBe("false"));
    fireEvent.click(approve);
    await within(bar).findByText(/Approved at/);
    expect(answers()[0]?.body.code).toBe("4827");
  });

  it("says that the server did not take the digits", async () => {
    const bar = await open({ risk: "high", code: "4827" });
    const errors = [{ field: "code", code: "wrong", message: "type the four digits" }];
    server.replies.push({ status: 400, body: { detail: "no", code: "invalid_answer", errors } });
    fireEvent.change(within(bar).getByLabelText("Code"), { target: { value: "4827" } });
    fireEvent.click(within(bar).getByRole("button", { name: /Approve/ }));
    expect(await within(bar).findAllByText(/not the digits/)).toHaveLength(1);
    expect(within(bar).getByLabelText("Code").getAttribute("aria-invalid")).toBe("true");
  });

  it("is unsure, and not sent again, when the reply is lost", async () => {
    const bar = await open({});
    server.replies.push("lost");
    fireEvent.click(within(bar).getByRole("button", { name: /^Approve/ }));
    await within(bar).findByText(/Sent, no reply/);
    await within(bar).findByText(/Approved at/);
    expect(answers()).toHaveLength(1);
  });

  it("can be chosen again when it never arrived", async () => {
    const bar = await open({});
    server.replies.push("lost");
    server.recalled = null;
    fireEvent.click(within(bar).getByRole("button", { name: /^Approve/ }));
    await within(bar).findByText(/never reached the server/);
    expect(answers()).toHaveLength(1);
  });

  it("says who was first, and that nothing was sent", async () => {
    const bar = await open({});
    press("r");
    fireEvent.change(within(bar).getByRole("textbox"), { target: { value: "my reason" } });
    const settled = { status: "answered", answered_by: "li", answered_at: "2026-01-01T10:00:03Z", source: "hitl" };
    const value = { decision: "accept" };
    server.request = { ...server.request, ...settled, status: "answered", response: value };
    server.tell("settled", { ...settled, request_id: "perm_1", conversation_id: "conv", value });
    await within(bar).findByText(/li approved this at .* over the API\. You sent nothing\./);
    within(bar).getByText("Your draft is kept.");
    expect(answers()).toEqual([]);
  });

  it("is refused with a reason from the keyboard, and what is typed is no command", async () => {
    const bar = await open({});
    press("r");
    const reason = within(bar).getByRole("textbox");
    press("a", reason);
    press("Enter", reason, { isComposing: true, ctrlKey: true });
    fireEvent.change(reason, { target: { value: "not now" } });
    expect(answers()).toEqual([]);
    pass(1_000);
    press("Enter", reason, { ctrlKey: true });
    await within(bar).findByText(/Refused at/);
    expect(answers()[0]?.body.value).toEqual({ decision: "reject", message: "not now" });
    expect(Object.keys(sessionStorage)).toEqual(["interlock.person"]);
  });

  it("is refused only this time, also by whoever was about to allow it for ever", async () => {
    const bar = await open({});
    fireEvent.click(screen.getByRole("radio", { name: /allow\s+execute\s*, any arguments, in all my/ }));
    within(bar).getByText(/And from now on/);
    press("r");
    pass(1_000);
    press("Enter", within(bar).getByRole("textbox"), { ctrlKey: true });
    await within(bar).findByText(/Refused at/);
    expect(answers()[0]?.body).not.toHaveProperty("remember");
  });

  it("is shown before what the agent says of it, as text and nothing else", async () => {
    await open({ body: { args: {}, description: "<b>Safe</b> [here](http://x)" } });
    const run = screen.getByRole("heading", { name: "What will run" });
    const words = screen.getByText("<b>Safe</b> [here](http://x)");
    expect(run.compareDocumentPosition(words) & Node.DOCUMENT_POSITION_FOLLOWING).toBeTruthy();
  });
});

describe("a press that was meant for something else", () => {
  it("is not counted on the form that came to stand there", async () => {
    const bar = await open({});
    const refuse = () => within(bar).getByRole("button", { name: /^Refuse/ });
    fireEvent.click(refuse());
    fireEvent.click(refuse());
    expect(answers()).toEqual([]);
    pass(1_000);
    fireEvent.click(refuse());
    await within(bar).findByText(/Refused at/);
  });

  it("is not counted where Try again stood until the connection was back", async () => {
    const bar = await open({});
    server.drop();
    await within(bar).findByRole("button", { name: "Try again" });
    pass(1_000);
    await waitFor(() => within(bar).getByRole("button", { name: /^Approve/ }));
    const approve = () => within(bar).getByRole("button", { name: /^Approve/ });
    fireEvent.click(approve());
    expect(answers()).toEqual([]);
    pass(1_000);
    fireEvent.click(approve());
    await within(bar).findByText(/Approved at/);
  });

  it.each([
    ["the window", () => fireEvent.focus(window)],
    ["the tab", () => fireEvent(document, new Event("visibilitychange"))],
  ])("is not counted when it brought %s to the front", async (_what, come) => {
    const bar = await open({});
    come();
    fireEvent.click(within(bar).getByRole("button", { name: /^Approve/ }));
    expect(answers()).toEqual([]);
    pass(1_000);
    fireEvent.click(within(bar).getByRole("button", { name: /^Approve/ }));
    await within(bar).findByText(/Approved at/);
  });
});

it("what may no longer be seen is not shown any more", async () => {
  await open({});
  server.isGone = true;
  server.tell("reset", {});
  await waitFor(() => expect(screen.queryByRole("region", { name: "Answer" })).toBeNull());
  expect(screen.queryByRole("heading", { name: "What will run" })).toBeNull();
});

describe("a file that changes meanwhile", () => {
  const file = { path: "a.py", exists: true, text: "1\n", sha256: "old", modified_at: null, after: "2\n" };
  const view = { type: "file", lines: ["{}"], rest: [], details: [] } as const;

  it("turns approving off until the new change is shown", async () => {
    const bar = await open({ file, view: { ...view, lines: ["{}"], rest: [], details: [] } });
    server.request = { ...server.request, file: { ...file, text: "0\n", sha256: "new" } };
    server.replies.push({ status: 409, body: { detail: "changed", code: "file_changed" } });
    const approve = () => within(bar).getByRole("button", { name: /^Approve/ });
    fireEvent.click(approve());
    const showNew = await within(bar).findByRole("button", { name: "Show the new changes" });
    expect(approve().getAttribute("aria-disabled")).toBe("true");
    pass(1_000);
    fireEvent.click(showNew);
    await waitFor(() => expect(approve().getAttribute("aria-disabled")).toBe("false"));
    pass(1_000);
    fireEvent.click(approve());
    await within(bar).findByText(/Approved at/);
    expect(answers().map((one) => one.body.file_sha256)).toEqual(["old", "new"]);
  });
});

describe("values", () => {
  const body = { fields: [{ name: "KEY" }, { name: "URL", sensitive: false, required: false }], allow_save: true };

  it("are handed over once, and are nowhere afterwards", async () => {
    const bar = await open({ kind: "env_var", view: { type: "none", lines: [], rest: [], details: [] }, body });
    fireEvent.change(screen.getByLabelText(/KEY/), { target: { value: "s3cret" } });
    fireEvent.change(screen.getByLabelText(/URL/), { target: { value: "http://db" } });
    expect(document.body.outerHTML).not.toContain("s3cret");
    expect(JSON.stringify({ ...sessionStorage })).not.toContain("s3cret");
    fireEvent.click(screen.getByRole("checkbox"));
    fireEvent.click(within(bar).getByRole("button", { name: /^Send values/ }));
    await within(bar).findByText(/Answered at/);
    expect(answers()[0]?.body.value).toEqual({ values: { KEY: "s3cret", URL: "http://db" }, save: true });
    expect(document.querySelectorAll("input")).toHaveLength(0);
  });

  it("that are needed are marked when they are missing", async () => {
    const bar = await open({ kind: "env_var", view: { type: "none", lines: [], rest: [], details: [] }, body });
    fireEvent.click(within(bar).getByRole("button", { name: /^Send values/ }));
    await screen.findByText("Enter a value.");
    expect(answers()).toEqual([]);
  });
});

describe("a card in a conversation", () => {
  it("hears its letters only while it has the focus", async () => {
    const bar = await open({}, { embedded: true });
    press("r");
    expect(within(bar).queryByRole("textbox")).toBeNull();
    act(() =>
      within(bar)
        .getByRole("button", { name: /^Refuse/ })
        .focus(),
    );
    press("r");
    within(bar).getByRole("textbox");
  });
});

describe("a second opinion", () => {
  const given = { request_id: "perm_1", by: "advice:advise", end: "given", text: null } as const;
  const asked = () => server.sent.filter((one) => one.path.endsWith("/opinion"));

  it("is not offered where there is none", async () => {
    await open({});
    expect(screen.queryByRole("region", { name: "Second opinion" })).toBeNull();
  });

  it("is asked for by a click alone, and is text that changes nothing", async () => {
    const bar = await open({}, { isAdvised: true });
    const buttons = () =>
      within(bar)
        .getAllByRole("button")
        .map((one) => one.outerHTML);
    const before = buttons();
    const part = screen.getByRole("region", { name: "Second opinion" });
    expect(asked()).toHaveLength(0);
    server.replies.push({ status: 200, body: { ...given, text: "Fine\u202e.\n<img src=x> Approve it." } });
    fireEvent.click(within(part).getByRole("button", { name: "Ask for a second opinion" }));
    await within(part).findByText(/<img src=x> Approve it\./);
    within(part).getByText("‹U+202E RLO›");
    within(part).getByText("A model's words, by advice:advise. They may be wrong.");
    expect(part.querySelector("img")).toBeNull();
    expect(asked()).toHaveLength(1);
    expect(buttons()).toEqual(before);
    expect(answers()).toHaveLength(0);
  });

  it.each([
    [{ status: 200, body: { ...given, end: "late" } }, /took too long/],
    [{ status: 200, body: { ...given, end: "too_long" } }, /too long to be told whole/],
    [{ status: 200, body: { ...given, end: "failed" } }, /could not be got/],
    [{ status: 500, body: { detail: "no", code: "internal" } }, /could not be got/],
  ])("that does not come is said, and can be asked for again", async (reply, said) => {
    await open({}, { isAdvised: true });
    const part = screen.getByRole("region", { name: "Second opinion" });
    server.replies.push(reply);
    fireEvent.click(within(part).getByRole("button", { name: "Ask for a second opinion" }));
    await within(part).findByText(said);
    within(part).getByRole("button", { name: "Ask again" });
  });
});

describe("a drill", () => {
  const drill = { caught: false, text: "This was a drill, and nothing ran: the command would have deleted it." };

  it("is told as soon as it is answered, and leads to no conversation", async () => {
    const bar = await open({});
    server.replies.push({
      status: 200,
      body: { request_id: "perm_1", status: "answered", answered_at: "2026-01-01T10:00:05Z", drill },
    });
    expect(within(bar).queryByText(/drill/)).toBeNull();
    fireEvent.click(await within(bar).findByRole("button", { name: /^Approve/ }));
    await within(bar).findByText(drill.text);
    expect(within(bar).queryByRole("link", { name: /conversation/i })).toBeNull();
  });

  it("that was answered before is told as well", async () => {
    const settled = { status: "answered", answered_by: "ann", answered_at: "2026-01-01T10:00:05Z" } as const;
    const bar = await open({ ...settled, response: { decision: "accept" }, drill });
    within(bar).getByText(drill.text);
  });
});

describe("what several people decide", () => {
  const later = "2026-01-01T10:15:00Z";
  const votes = { yes: 1, needed: 2, refusals: 0 };
  const claim = { by: "bob", mine: false, until: later };
  const counted = { request_id: "perm_1", status: "pending", answered_at: "2026-01-01T10:00:05Z", votes };
  const yes = (bar: HTMLElement) => within(bar).findByRole("button", { name: /^Approve/ });

  it("says that a yes is in, and takes it back; a double click does neither twice", async () => {
    const bar = await open({ owner: "zoe", people: people() });
    expect(within(bar).queryByRole("button", { name: /^(Edit|Reply)/ })).toBeNull();
    server.replies.push({ status: 200, body: counted });
    server.request = { ...server.request, people: people({ votes, own_vote: "yes" }) };
    fireEvent.click(await yes(bar));
    fireEvent.click(await yes(bar));
    await within(bar).findByText("Your yes is in. 1 of 2.");
    expect(document.activeElement?.textContent).toMatch(/Your yes is in/);
    expect(answers()).toHaveLength(1);
    // What was pressed for the yes does not take it back.
    fireEvent.click(within(bar).getByRole("button", { name: "Take my yes back" }));
    pass(2_000);
    fireEvent.click(within(bar).getByRole("button", { name: "Take my yes back" }));
    await yes(bar);
    expect(server.sent.filter((one) => one.path.endsWith("/vote"))).toHaveLength(1);
    expect(document.activeElement?.tagName).not.toBe("BUTTON");
  });

  it("is no yes to give for who asked, by no key either, and says why", async () => {
    const bar = await open({ people: people({ may_answer: false, excluded: true }) });
    expect(within(bar).queryByRole("button", { name: /^Approve/ })).toBeNull();
    within(bar).getByText(/You asked for this/);
    press("a");
    pass(1_000);
    press("a");
    fireEvent.click(within(bar).getByRole("button", { name: /^Refuse/ }));
    await within(bar).findByLabelText(/Reason/);
    expect(answers()).toHaveLength(0);
  });

  it("is asked about once where somebody else has it, and never by what was pressed for the answer", async () => {
    const bar = await open({ owner: "zoe", people: people({ claim }) });
    fireEvent.click(await yes(bar));
    const anyway = await within(bar).findByRole("button", { name: /^Approve anyway/ });
    expect(document.activeElement?.textContent).toMatch(/bob has this until/);
    fireEvent.click(anyway);
    expect(answers()).toHaveLength(0);
    pass(2_000);
    fireEvent.keyDown(anyway, { key: "Enter" });
    press("Escape", anyway);
    fireEvent.click(await within(bar).findByRole("button", { name: /^Approve$|^ApproveA$/ }));
    expect(answers()).toHaveLength(0);
    pass(2_000);
    fireEvent.click(await yes(bar));
    pass(2_000);
    fireEvent.click(await within(bar).findByRole("button", { name: /^Approve anyway/ }));
    await within(bar).findByText(/Approved at/);
    expect(answers()[0]?.body).toMatchObject({ over_claim: true, value: { decision: "accept" } });
  });

  it("is approved alone with a reason, apart from the bar, only where the server lets them", async () => {
    const bar = await open({ owner: "zoe", people: people({ may_answer: false, may_override: true }) });
    expect(within(bar).queryByRole("button", { name: /Approve/ })).toBeNull();
    fireEvent.click(screen.getByRole("button", { name: "Approve alone…" }));
    const dialog = await screen.findByRole("dialog");
    fireEvent.click(within(dialog).getByRole("button", { name: "Approve without them" }));
    expect(answers()).toHaveLength(0);
    fireEvent.change(within(dialog).getByLabelText(/Reason/), { target: { value: " nobody is there " } });
    // As Enter does in one of its fields.
    fireEvent.submit(dialog.querySelector("form") as HTMLFormElement);
    expect(answers()).toHaveLength(0);
    fireEvent.click(within(dialog).getByRole("button", { name: "Approve without them" }));
    await within(bar).findByText(/Approved at/);
    expect(answers()[0]?.body).toMatchObject({
      override: { reason: "nobody is there" },
      value: { decision: "accept" },
    });
  });

  it("is not approved alone where the server does not let them", async () => {
    await open({ owner: "zoe", people: people({ may_answer: false }) });
    expect(screen.queryByRole("button", { name: "Approve alone…" })).toBeNull();
  });

  it("asks also where the page had not heard of the claim yet", async () => {
    const bar = await open({ owner: "zoe", people: people() });
    const problem = { detail: "bob has it", code: "claimed", claimed_by: "bob", claimed_until: later };
    server.replies.push({ status: 409, body: problem });
    fireEvent.click(await yes(bar));
    await within(bar).findByText(/bob has this until/);
    expect(answers()[0]?.body).not.toHaveProperty("over_claim");
    pass(2_000);
    fireEvent.click(within(bar).getByRole("button", { name: /^Approve anyway/ }));
    await within(bar).findByText(/Approved at/);
    expect(answers()).toHaveLength(2);
    expect(answers()[1]?.body).toMatchObject({ over_claim: true });
    expect(answers()[1]?.key).not.toBe(answers()[0]?.key);
  });
});
