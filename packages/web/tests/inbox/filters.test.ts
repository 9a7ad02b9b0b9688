import { expect, test } from "vitest";
import { filtersOf, isFiltered, isServers, isWanted, searchOf } from "@/inbox/filters";
import { entry } from "./entries";

test("filters are read from the address and spelled in it", () => {
  const filters = filtersOf("?kind=approval&risk=high&agent=ops&q=%20drop%20table%20&for=group%3Apay");
  expect(filters).toEqual({ kind: "approval", risk: "high", agent: "ops", q: "drop table", for: "group:pay" });
  expect(searchOf(filters)).toBe("?for=group%3Apay&kind=approval&risk=high&agent=ops&q=drop+table");
  expect(filtersOf(searchOf(filters))).toEqual(filters);
});

test("what is no filter is left out", () => {
  const filters = filtersOf("?kind=nonsense&risk=&agent=&q=%20&other=1");
  expect(isFiltered(filters)).toBe(false);
  expect(searchOf(filters)).toBe("");
});

test("whose it is, is me, what I have claimed, or a group's; everybody's is no filter", () => {
  expect(["me", "claimed", "group:a"].map((one) => filtersOf(`?for=${one}`).for)).toEqual(["me", "claimed", "group:a"]);
  for (const none of ["all", "group:", "you", `group:${"a".repeat(65)}`, ""]) {
    expect(isFiltered(filtersOf(`?for=${none}`))).toBe(false);
  }
  expect(isServers(filtersOf("?for=me"))).toBe(true);
  expect(isServers(filtersOf("?kind=approval"))).toBe(false);
});

test("what is too long for the server is cut", () => {
  expect(filtersOf(`?q=${"a".repeat(300)}`).q).toHaveLength(200);
});

test("a newcomer is wanted when it is of the kind, the risk and the agent", () => {
  const one = entry("a", { risk: "low" });
  expect(isWanted(one, filtersOf(""))).toBe(true);
  expect(isWanted(one, filtersOf("?kind=approval&risk=low&agent=demo"))).toBe(true);
  expect(isWanted(one, filtersOf("?kind=decision"))).toBe(false);
  expect(isWanted(one, filtersOf("?risk=high"))).toBe(false);
  expect(isWanted(one, filtersOf("?agent=ops"))).toBe(false);
  expect(isWanted(entry("q", { risk: null }), filtersOf("?risk=medium"))).toBe(false);
});
