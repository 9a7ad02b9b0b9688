// The TypeScript client of MCP, as hosts use it: one call with its own limits, and what came of it.
import { Client, DEFAULT_REQUEST_TIMEOUT_MSEC, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const headers = { authorization: `Bearer ${process.env.KEY}` };
const client = new Client({ name: "test", version: "1.0" });
await client.connect(new StreamableHTTPClientTransport(new URL(process.env.URL), { requestInit: { headers } }));
const result = await client.callTool(JSON.parse(process.env.CALL));
console.log(JSON.stringify({ limit: DEFAULT_REQUEST_TIMEOUT_MSEC, result }));
await client.close();
