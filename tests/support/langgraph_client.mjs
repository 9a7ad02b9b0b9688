// The client of LangGraph for JavaScript, told by lines of JSON what to call; each is answered by a line with what came.
import { createRequire } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.cwd()}/`);
const { Client } = await import(pathToFileURL(require.resolve("@langchain/langgraph-sdk")));
let client;
let requests = 0;

async function act({ url, part, method, args }) {
  if (url) {
    const onRequest = (_, init) => {
      requests += 1;
      return init;
    };
    client = new Client({ apiUrl: url, onRequest });
    return {};
  }
  requests = 0;
  try {
    const called = client[part][method](...args);
    if (called[Symbol.asyncIterator] === undefined) return { result: await called, requests };
    const chunks = [];
    for await (const chunk of called) chunks.push(chunk);
    return { result: chunks, requests };
  } catch (thrown) {
    return { error: String(thrown?.message ?? thrown), status: thrown?.status, requests };
  }
}

for await (const line of createInterface({ input: process.stdin })) {
  process.stdout.write(`${JSON.stringify(await act(JSON.parse(line)))}\n`);
}
