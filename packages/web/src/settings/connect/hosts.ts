/** What is pasted where, for each agent that can ask here. */

export interface Place {
  /** Of this server. */
  url: string;
  /** Null where the server takes no keys. */
  key: string | null;
}

export interface Host {
  /** The name of its key: what people see on its requests. */
  agent: string;
  pastes: readonly Paste[];
  /** Whether it was written from documents alone. */
  isUntested?: boolean;
}

export interface Paste {
  into: "clone" | "shell" | "claudeSettings" | "editor" | "mcpSettings";
  text: (place: Place) => string;
}

export const HOSTS = {
  claude: hooked("claude-code"),
  claudeHttp: {
    agent: "claude-code",
    pastes: [
      { into: "shell", text: ({ key }) => (key ? `export INTERLOCK_KEY=${key}` : "") },
      { into: "claudeSettings", text: (place) => json({ hooks: claudeHooks(place) }) },
    ],
  },
  codex: hooked("codex"),
  gemini: hooked("gemini", "gemini --approval-mode yolo"),
  cursor: { ...hooked("cursor"), isUntested: true },
  opencode: {
    agent: "opencode",
    pastes: [clone((place) => [INSTALL_COMMANDS, exported(place), "interlock watch opencode"])],
  },
  acp: {
    agent: "acp",
    pastes: [clone(() => [INSTALL_COMMANDS]), { into: "editor", text: (place) => json(editorSettings(place)) }],
  },
  mcp: {
    agent: "mcp",
    pastes: [
      {
        into: "shell",
        text: ({ url, key }) => `claude mcp add --transport http interlock ${url}/mcp${header(key)}`,
      },
      { into: "mcpSettings", text: (place) => json({ mcpServers: { interlock: started(place, ["mcp"]) } }) },
    ],
  },
} satisfies Record<string, Host>;

export type HostName = keyof typeof HOSTS;
export const HOST_NAMES = Object.keys(HOSTS) as HostName[];

const INSTALL = "pip install ./packages/client";
const INSTALL_COMMANDS = "pip install './packages/client[cli]'";
/** Claude Code waits as long for its hook, and asks again when it has to. */
const TIMEOUT = 3600;

function hooked(agent: string, ...more: string[]): Host {
  return { agent, pastes: [clone((place) => [INSTALL, exported(place), `interlock-hook install ${agent}`, ...more])] };
}

function clone(lines: (place: Place) => string[]): Paste {
  return { into: "clone", text: (place) => lines(place).join("\n") };
}

function exported({ url, key }: Place): string {
  return `export INTERLOCK_URL=${url}${key ? ` INTERLOCK_KEY=${key}` : ""}`;
}

function header(key: string | null): string {
  return key ? ` --header "Authorization: Bearer ${key}"` : "";
}

function started({ url, key }: Place, args: string[]) {
  return { command: "interlock", args, env: { INTERLOCK_URL: url, ...(key ? { INTERLOCK_KEY: key } : {}) } };
}

function editorSettings(place: Place) {
  return { agent_servers: { Interlock: { type: "custom", ...started(place, ["acp", "--", "gemini", "--acp"]) } } };
}

/** One that asks, and those that tell what was answered at the terminal. */
function claudeHooks({ url, key }: Place) {
  const credentials = key
    ? { headers: { Authorization: "Bearer $INTERLOCK_KEY" }, allowedEnvVars: ["INTERLOCK_KEY"] }
    : {};
  const hook = (timeout: number) => ({
    hooks: [{ type: "http", url: `${url}/api/v1/hooks/claude-code?timeout=${timeout}`, timeout, ...credentials }],
  });
  const ends = ["PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "SessionEnd"];
  return {
    PermissionRequest: [{ matcher: "*", ...hook(TIMEOUT) }],
    ...Object.fromEntries(ends.map((end) => [end, [hook(30)]])),
  };
}

function json(value: unknown): string {
  return JSON.stringify(value, null, 2);
}
