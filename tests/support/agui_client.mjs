// One HttpAgent, told by lines of JSON what to do; each is answered by a line with what it then has.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const { HttpAgent } = await import(pathToFileURL(require.resolve(process.argv[2])));
let agent;

async function act({ url, headers, threadId, say, resume }) {
  if (url) {
    agent = new HttpAgent({ url, headers, threadId });
    return {};
  }
  const events = [];
  let error;
  if (say) agent.addMessage({ id: crypto.randomUUID(), role: "user", content: say });
  try {
    await agent.runAgent(resume ? { resume } : {}, { onEvent: ({ event }) => void events.push(event) });
  } catch (thrown) {
    error = String(thrown?.message ?? thrown);
  }
  return { events, messages: agent.messages, pending: agent.pendingInterrupts ?? [], error };
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await act(JSON.parse(line)))}\n`);
}
