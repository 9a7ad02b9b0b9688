import { cleanup, render } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Texts } from "@/i18n/provider";
import { ErrorBoundary } from "@/shell/error-boundary";

function Page({ isBroken }: { isBroken: boolean }) {
  if (isBroken) throw new TypeError("no such thing");
  return <p>fine</p>;
}

function shown(place: string, isBroken: boolean) {
  return (
    <Texts>
      <ErrorBoundary place={place}>
        <Page isBroken={isBroken} />
      </ErrorBoundary>
    </Texts>
  );
}

afterEach(cleanup);

test("a page that breaks says what to do, and another place is another try", () => {
  const { getByRole, getByText, queryByRole, rerender } = render(shown("/a", true), { onCaughtError: () => {} });
  expect(getByRole("alert").textContent).toContain("TypeError: no such thing");
  expect(getByRole("button")).toBeTruthy();
  rerender(shown("/b", false));
  expect(getByText("fine")).toBeTruthy();
  expect(queryByRole("alert")).toBeNull();
});
