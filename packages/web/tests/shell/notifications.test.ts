import { afterEach, beforeEach, expect, test } from "vitest";
import { Notices } from "@/shell/notifications";
import { entry } from "../inbox/entries";

/** The browser's, as far as it is used. */
class Shown {
  static all: Shown[] = [];
  isClosed = false;
  onclick: (() => void) | null = null;
  onclose: (() => void) | null = null;

  constructor(
    readonly title: string,
    readonly options: NotificationOptions,
  ) {
    Shown.all.push(this);
  }

  close(): void {
    this.isClosed = true;
    this.onclose?.();
  }
}

const original = globalThis.Notification;
beforeEach(() => {
  Shown.all = [];
  globalThis.Notification = Shown as unknown as typeof Notification;
});
afterEach(() => {
  globalThis.Notification = original;
});

test("a click opens the request, and nothing can be answered from outside of the page", () => {
  let opened = 0;
  new Notices().show({ title: "Approval wanted", body: "demo" }, [entry("a")], () => {
    opened += 1;
  });
  const [notice] = Shown.all;
  expect(notice?.options).not.toHaveProperty("actions");
  notice?.onclick?.();
  expect(opened).toBe(1);
  expect(notice?.isClosed).toBe(true);
});

test("it goes when all that it told of is settled", () => {
  const notices = new Notices();
  notices.show({ title: "2 requests waiting", body: "" }, [entry("a"), entry("b")], () => {});
  notices.settled("a");
  expect(Shown.all[0]?.isClosed).toBe(false);
  notices.settled("b");
  expect(Shown.all[0]?.isClosed).toBe(true);
});

test("a browser that only has the name is no trouble", () => {
  globalThis.Notification = class {
    constructor() {
      throw new TypeError("Illegal constructor");
    }
  } as unknown as typeof Notification;
  expect(() => new Notices().show({ title: "", body: "" }, [entry("a")], () => {})).not.toThrow();
});
