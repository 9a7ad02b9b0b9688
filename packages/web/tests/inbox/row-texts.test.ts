import { describe, expect, it } from "vitest";
import { projectOf } from "@/inbox/row-texts";
import { entry } from "./entries";

describe("what an agent elsewhere works on", () => {
  const own = { outside: true, conversation_title: "my-project", tool: "Bash", headline: "Bash ls" };

  it("is the name of its conversation", () => {
    expect(projectOf({ ...entry("a"), ...own })).toBe("my-project");
  });

  it("is nothing for agents that are hosted here, and where the name is made of what is asked", () => {
    expect(projectOf({ ...entry("a"), ...own, outside: false })).toBeNull();
    expect(projectOf({ ...entry("a"), ...own, conversation_title: "Bash ls -l" })).toBeNull();
    const asked = { tool: null, headline: "Which of the two regions?", conversation_title: "Which of the…" };
    expect(projectOf({ ...entry("a"), ...own, ...asked })).toBeNull();
    expect(projectOf({ ...entry("a"), ...own, conversation_title: "" })).toBeNull();
  });
});
