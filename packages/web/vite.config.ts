import { fileURLToPath } from "node:url";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));
/** Where `npm run dev` finds the server that `make serve` started. */
const SERVER = "http://127.0.0.1:8000";

export default defineConfig({
  plugins: [react()],
  resolve: {
    alias: [
      { find: /^@\//, replacement: here("src/") },
      // The SDK's own source: one transport, one reader of streams, one tree of errors.
      { find: /^interlock-client\/(.*)$/, replacement: `${here("../sdk-ts/src")}/$1` },
    ],
  },
  build: {
    outDir: here("../server/src/interlock/faces/web/static"),
    emptyOutDir: true,
    target: "es2022",
    // The pages' policy allows no inline data, and one kind of address is easier to reason about.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { "/api": SERVER } },
  test: {
    environment: "happy-dom",
    include: ["tests/**/*.test.{ts,tsx}"],
    setupFiles: "tests/patience.ts",
    testTimeout: 60_000,
  },
});
