import { execFile } from "node:child_process";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import * as source from "../src/index.js";

const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), "utf8");

describe("the package", () => {
  test("is built with every name", async () => {
    const built = await import(new URL("../dist/index.js", import.meta.url).href);
    expect(Object.keys(built).sort()).toEqual(Object.keys(source).sort());
  });

  test("is packed whole from a clone in which nothing was built, and works when installed", {
    timeout: 60_000,
  }, async () => {
    const clone = await mkdtemp(join(tmpdir(), "interlock-pack-"));
    try {
      for (const name of ["package.json", "tsconfig.json", "tsconfig.build.json", "src", "README.md", "LICENSE"]) {
        await cp(new URL(`../${name}`, import.meta.url), join(clone, name), { recursive: true });
      }
      await symlink(new URL("../node_modules", import.meta.url).pathname, join(clone, "node_modules"));
      await promisify(execFile)("npm", ["pack", "--silent"], { cwd: clone });
      const [packed = ""] = (await readdir(clone)).filter((name) => name.endsWith(".tgz"));
      const { stdout } = await promisify(execFile)("tar", ["-tzf", packed], { cwd: clone });
      const inside = stdout.split("\n");
      for (const name of ["dist/index.js", "dist/index.d.ts", "src/index.ts", "README.md", "LICENSE"]) {
        expect(inside).toContain(`package/${name}`);
      }
      const empty = join(clone, "empty");
      await mkdir(empty);
      await writeFile(join(empty, "package.json"), "{}");
      await promisify(execFile)("npm", ["install", "--offline", "--silent", join(clone, packed)], { cwd: empty });
      const program = 'console.log(Object.keys(await import("interlock-client")).sort().join())';
      const run = await promisify(execFile)("node", ["--input-type=module", "-e", program], { cwd: empty });
      expect(run.stdout.trim()).toBe(Object.keys(source).sort().join());
    } finally {
      await rm(clone, { recursive: true, force: true });
    }
  });

  test("needs nothing when it runs", async () => {
    expect(JSON.parse(await read("package.json"))).not.toHaveProperty("dependencies");
  });

  test("is locked without a word about where packages came from", async () => {
    const lock = JSON.parse(await read("package-lock.json")) as { packages: Record<string, object> };
    expect(Object.values(lock.packages).filter((one) => "resolved" in one)).toEqual([]);
  });
});
