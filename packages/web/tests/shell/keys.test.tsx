import { act, cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { InDialog, useKeys } from "@/keys/use-keys";
import { prefer } from "@/preferences/store";

const pressed: string[] = [];

function Keys({ name }: { name: string }) {
  useKeys({
    j: () => pressed.push(`${name} j`),
    "?": () => pressed.push(`${name} ?`),
    "g i": () => pressed.push(`${name} g i`),
  });
  return <input aria-label={name} />;
}

function press(key: string, init: KeyboardEventInit = {}, target: EventTarget = document.body): void {
  target.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true, composed: true, ...init }));
}

afterEach(() => {
  cleanup();
  pressed.length = 0;
  act(() => prefer({ shortcuts: true }));
});

test("letters work in either case, and a question mark behind Shift is one", () => {
  render(<Keys name="page" />);
  press("j");
  press("J", { shiftKey: true });
  press("?", { shiftKey: true });
  press("g");
  press("i");
  expect(pressed).toEqual(["page j", "page j", "page ?", "page g i"]);
});

test("not in fields, on repeat, with another modifier, while composing, or when turned off", () => {
  const { getByLabelText } = render(<Keys name="page" />);
  press("j", {}, getByLabelText("page"));
  press("j", { repeat: true });
  press("j", { ctrlKey: true });
  press("j", { isComposing: true });
  act(() => prefer({ shortcuts: false }));
  press("j");
  expect(pressed).toEqual([]);
});

test("a modal dialog takes the keys of the page behind it", () => {
  render(<Keys name="page" />);
  render(
    <InDialog value={true}>
      <Keys name="dialog" />
    </InDialog>,
  );
  const dialog = document.body.appendChild(document.createElement("dialog"));
  dialog.showModal();
  press("j", {}, dialog);
  dialog.remove();
  press("j");
  expect(pressed).toEqual(["dialog j", "page j", "dialog j"]);
});
