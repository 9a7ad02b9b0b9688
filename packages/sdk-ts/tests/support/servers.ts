/** The two servers that all tests share which break nothing: one without accounts, one with. */
import type { TestProject } from "vitest/node";
import { ServerProcess } from "./server.js";

declare module "vitest" {
  interface ProvidedContext {
    open: string;
    closed: string;
  }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const [open, closed] = await Promise.all([ServerProcess.start("none"), ServerProcess.start("accounts")]);
  await register(closed.url, "root");
  await register(closed.url, "alice");
  await register(closed.url, "bob");
  project.provide("open", open.url);
  project.provide("closed", closed.url);
  return async () => {
    await Promise.all([open.stop(), closed.stop()]);
  };
}

async function register(url: string, username: string): Promise<void> {
  const body = JSON.stringify({ username, password: "wonderland" });
  const headers = { "content-type": "application/json" };
  const response = await fetch(`${url}/api/auth/register`, { method: "POST", body, headers });
  if (!response.ok) throw new Error(`${username} cannot register: ${await response.text()}`);
}
