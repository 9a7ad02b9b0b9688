import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { useRef, useState } from "react";
import { IntlProvider } from "use-intl";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Composer } from "@/chat/composer";
import { keepDraft, readDraft } from "@/chat/drafts";
import { en } from "@/i18n/messages";

let sent: string[] = [];

function Written({ blocked = null, onStop = null }: { blocked?: string | null; onStop?: (() => void) | null }) {
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState("hello");
  return (
    <IntlProvider locale="en" messages={en} timeZone="UTC">
      <Composer {...{ field, text, blocked }} onText={setText} onSend={() => sent.push(text)} onStop={onStop} />
    </IntlProvider>
  );
}

beforeEach(() => {
  sent = [];
});

afterEach(cleanup);

describe("the field of a conversation", () => {
  it("sends with Enter, and not with Shift+Enter", () => {
    render(<Written />);
    const field = screen.getByRole("textbox", { name: "Message" });
    fireEvent.keyDown(field, { key: "Enter", shiftKey: true });
    expect(sent).toEqual([]);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(sent).toEqual(["hello"]);
  });

  it("sends nothing with the Enter of an input method", () => {
    render(<Written />);
    const field = screen.getByRole("textbox");
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    fireEvent.keyDown(field, { key: "Enter", keyCode: 229 });
    expect(sent).toEqual([]);
  });

  it("sends nothing on repeat, nothing blank, and nothing while it must not", () => {
    const { unmount } = render(<Written />);
    fireEvent.keyDown(screen.getByRole("textbox"), { key: "Enter", repeat: true });
    fireEvent.change(screen.getByRole("textbox"), { target: { value: "  " } });
    fireEvent.keyDown(screen.getByRole("textbox"), { key: "Enter" });
    fireEvent.click(screen.getByRole("button", { name: "Send" }));
    unmount();
    render(<Written blocked="Answer the request first" />);
    fireEvent.keyDown(screen.getByRole("textbox"), { key: "Enter" });
    fireEvent.click(screen.getByRole("button", { name: "Send" }));
    expect(sent).toEqual([]);
    expect(screen.getByText("Answer the request first")).toBeTruthy();
  });
});

describe("Stop", () => {
  afterEach(() => vi.restoreAllMocks());

  it("does not count the click that was meant for Send", () => {
    let now = 1_000;
    vi.spyOn(performance, "now").mockImplementation(() => now);
    const stop = vi.fn();
    const { rerender } = render(<Written />);
    rerender(<Written onStop={stop} />);
    now += 400;
    fireEvent.click(screen.getByRole("button", { name: /Stop/ }));
    expect(stop).not.toHaveBeenCalled();
    now += 200;
    fireEvent.click(screen.getByRole("button", { name: /Stop/ }));
    expect(stop).toHaveBeenCalledOnce();
  });
});

describe("a draft", () => {
  afterEach(() => sessionStorage.clear());

  it("is kept by its thread, and dropped when it is empty", () => {
    keepDraft("ann-1", "half a sent");
    keepDraft(null, "another");
    expect([readDraft("ann-1"), readDraft("ann-2"), readDraft(null)]).toEqual(["half a sent", "", "another"]);
    keepDraft("ann-1", "");
    expect(sessionStorage.length).toBe(1);
  });
});
