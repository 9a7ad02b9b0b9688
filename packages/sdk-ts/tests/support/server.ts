/** A real server process: started, asked, killed and started again as a user or a crash would. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const VENV = fileURLToPath(new URL("../../../../.venv", import.meta.url));
const START = 180_000;

export type Auth = "none" | "accounts";

export class ServerProcess {
  url = "";
  #process: ChildProcess | undefined;
  #log = "";

  private constructor(
    readonly folder: string,
    readonly auth: Auth,
    readonly environment: Record<string, string>,
  ) {}

  /** `interlock serve` with the demo agent on a free port of loopback, over a data folder of its own. */
  static async start(auth: Auth, environment: Record<string, string> = {}): Promise<ServerProcess> {
    const server = new ServerProcess(await mkdtemp(join(tmpdir(), "interlock-sdk-")), auth, environment);
    await server.#start("0");
    return server;
  }

  /** `kill -9`, and start it again at the same address. */
  async restart(): Promise<void> {
    await this.kill();
    await this.revive();
  }

  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  async revive(): Promise<void> {
    await this.#start(new URL(this.url).port);
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
    await rm(this.folder, { recursive: true, force: true });
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const running = this.#process;
    if (!running || running.exitCode !== null || running.signalCode !== null) return;
    const ended = once(running, "exit");
    running.kill(signal);
    await ended;
  }

  async #start(port: string): Promise<void> {
    const options = ["--port", port, "--auth", this.auth, "--data", join(this.folder, "data")];
    const env = { ...inherited(), INTERLOCK_LOCALE: "en", INTERLOCK_FOLLOW_GRACE: "0.3", ...this.environment };
    const running = spawn(join(VENV, "bin", "python"), ["-m", "interlock", "serve", ...options], {
      cwd: this.folder,
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process = running;
    running.stderr.on("data", (chunk) => {
      this.#log = (this.#log + chunk).slice(-4_000);
    });
    this.url = await this.#ready(running);
  }

  #ready(running: ChildProcess): Promise<string> {
    return new Promise((resolve, reject) => {
      const fail = (why: string) => reject(new Error(`the server ${why}: ${this.#log}`));
      const timer = setTimeout(() => fail("did not start in time"), START);
      running.once("exit", () => fail("ended"));
      createInterface({ input: running.stdout as NodeJS.ReadableStream }).on("line", (line) => {
        const address = /ready at (\S+)/.exec(line)?.[1];
        if (!address) return;
        clearTimeout(timer);
        resolve(address);
      });
    });
  }
}

/** Nothing of Interlock's; and compiled modules are kept, without which every start takes three times as long. */
function inherited(): NodeJS.ProcessEnv {
  const ours = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("INTERLOCK_") && name !== "PYTHONDONTWRITEBYTECODE",
  );
  return { PYTHONPYCACHEPREFIX: join(VENV, "pycache"), ...Object.fromEntries(ours) };
}
