import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    globalSetup: "tests/support/servers.ts",
    include: ["tests/**/*.test.ts"],
    testTimeout: 120_000,
    hookTimeout: 180_000,
    // Each file has little to compute, and servers of their own share the machine with it.
    maxWorkers: 2,
  },
});
