import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, test } from "vitest";
import { dropToken, takeToken } from "@/login/place";
import { useFragment } from "@/shell/use-fragment";

beforeEach(dropToken);

test("a link that is opened where its page is open already is taken, and out of the address", () => {
  history.replaceState(null, "", "/login#once=first");
  const { result, unmount } = renderHook(() => useFragment(takeToken));
  expect(result.current).toBe("first");
  // A browser loads nothing for it, and tells the page only this.
  history.replaceState(null, "", "/login#once=second");
  act(() => void dispatchEvent(new Event("hashchange")));
  expect(result.current).toBe("second");
  expect(location.hash).toBe("");
  unmount();
  history.replaceState(null, "", "/login#once=third");
  act(() => void dispatchEvent(new Event("hashchange")));
  expect(result.current).toBe("second");
});
