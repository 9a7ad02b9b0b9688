import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import * as source from "../src/index.js";

const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

describe("the package", () => {
  test("is built with every name", async () => {
    const built = await import(new URL("../dist/index.js", import.meta.url).href);
    expect(Object.keys(built).sort()).toEqual(Object.keys(source).sort());
  });

  test("needs nothing when it runs", async () => {
    expect(JSON.parse(await read("package.json"))).not.toHaveProperty("dependencies");
  });

  test("is locked without a word about where packages came from", async () => {
    const lock = JSON.parse(await read("package-lock.json")) as { packages: Record<string, object> };
    expect(Object.values(lock.packages).filter((one) => "resolved" in one)).toEqual([]);
  });
});
