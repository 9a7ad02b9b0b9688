import { afterEach, describe, expect, inject, test, vi } from "vitest";
import { InterlockClient, NotFound } from "../src/index.js";
import { language } from "../src/language.js";
import { failure } from "./support/people.js";

describe("the language of the system", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.unstubAllGlobals();
  });

  test.each([
    [{ LANG: "en_GB.UTF-8" }, "en-GB"],
    [{ LANG: "en_GB.UTF-8", LC_ALL: "zh_CN.UTF-8" }, "zh-CN"],
    [{ LANG: "de_DE@euro" }, "de-DE, en;q=0.5"],
    [{ LANG: "C.UTF-8" }, undefined],
    [{ LANG: "POSIX" }, undefined],
    [{}, undefined],
  ])("of %o is %s", (environment, expected) => {
    expect(language(environment)).toBe(expected);
  });

  test("is the browser's where there is no environment", () => {
    vi.stubGlobal("process", undefined);
    vi.stubGlobal("navigator", { language: "zh-TW" });
    expect(language()).toBe("zh-TW");
  });

  test("is that of what a server refuses", async () => {
    const refused = async (lang: string, locale?: string) => {
      vi.stubEnv("LC_ALL", lang);
      const client = new InterlockClient({ baseUrl: inject("open"), locale });
      const error = await failure(client.resumeSession("nobody-here", "x", "accept"));
      expect(error).toBeInstanceOf(NotFound);
      return (error as NotFound).message;
    };
    expect(await refused("en_US.UTF-8")).toBe("There is no session of user nobody-here");
    expect(await refused("zh_CN.UTF-8")).toBe("用户会话 nobody-here 不存在");
    expect(await refused("zh_CN.UTF-8", "en")).toBe("There is no session of user nobody-here");
  });
});
