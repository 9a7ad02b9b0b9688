import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { Bursts, Pace } from "@/shell/pace";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("what is asked for in a rush is done at once and once more at the end", () => {
  let done = 0;
  const pace = new Pace(1_000, () => {
    done += 1;
  });
  for (let times = 0; times < 50; times += 1) pace.ask();
  expect(done).toBe(1);
  vi.advanceTimersByTime(1_000);
  expect(done).toBe(2);
  vi.advanceTimersByTime(5_000);
  expect(done).toBe(2);
});

test("what was stopped is not done any more", () => {
  let done = 0;
  const pace = new Pace(1_000, () => {
    done += 1;
  });
  pace.ask();
  pace.ask();
  pace.stop();
  vi.advanceTimersByTime(5_000);
  expect(done).toBe(1);
});

test("the first is told at once, the others of its burst together", () => {
  const told: string[][] = [];
  const bursts = new Bursts<string>(5_000, (all) => told.push([...all]));
  bursts.add("a");
  vi.advanceTimersByTime(1_000);
  bursts.add("b");
  bursts.add("c");
  expect(told).toEqual([["a"]]);
  vi.advanceTimersByTime(4_000);
  expect(told).toEqual([["a"], ["b", "c"]]);
  vi.advanceTimersByTime(60_000);
  bursts.add("d");
  expect(told).toEqual([["a"], ["b", "c"], ["d"]]);
});
