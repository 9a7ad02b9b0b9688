// Pages of LangGraph's own clients for people, with nothing on them but what they call: Agent Inbox, and useStream of
// both protocols. `?client=inbox|first|second&url=&key=&thread=`; the buttons never lock, as the fastest finger sees them.
import { Client } from "@langchain/langgraph-sdk";
import { useStream as useFirst } from "@langchain/langgraph-sdk/react";
import { useStream as useSecond } from "@langchain/react";
import { createElement as h, useEffect, useState } from "react";
import { createRoot } from "react-dom/client";

const query = new URLSearchParams(location.search);
const [url, key, thread] = ["url", "key", "thread"].map((name) => query.get(name) ?? undefined);
const agent = "puppet";

const button = (name, onClick) => h("button", { key: name, onClick }, name);
const line = (name, value) =>
  h("p", { key: name, "data-testid": name }, typeof value === "string" ? value : JSON.stringify(value ?? null));

// As Agent Inbox reads what the middleware of LangChain asks, and its own form.
function normalized(value) {
  if (!Array.isArray(value?.action_requests)) return [value].flat()[0];
  const [{ name, arguments: args, description }] = value.action_requests;
  const decisions = value.review_configs[0].allowed_decisions;
  const config = {
    allow_accept: decisions.includes("approve"),
    allow_edit: decisions.includes("edit"),
    allow_respond: decisions.includes("reject"),
    allow_ignore: false,
  };
  return { action_request: { action: name, args: args ?? {} }, config, description };
}

function Inbox() {
  const [client] = useState(() => new Client({ apiUrl: url, defaultHeaders: { "x-api-key": key } }));
  const [asked, setAsked] = useState();
  const [toast, setToast] = useState("");
  const [nodes, setNodes] = useState([]);
  const [left, setLeft] = useState();
  const [text, setText] = useState("");

  const list = async () => {
    const found = await client.threads.search({ offset: 0, limit: 100, status: "interrupted", metadata: { graph_id: agent } });
    setLeft(found.filter((one) => one.thread_id === thread).length);
    return found.find((one) => one.thread_id === thread);
  };
  const show = (one) => setAsked(one?.status === "interrupted" ? normalized(Object.values(one.interrupts)[0][0].value) : undefined);
  useEffect(() => {
    list().then(show);
  }, []);

  const submit = async (response) => {
    try {
      const chunks = client.runs.stream(thread, agent, { command: { resume: [response] }, streamMode: "events" });
      for await (const { event, data } of chunks) {
        if (data?.event === "on_chain_start") setNodes((now) => [...now, data.metadata.langgraph_node]);
        if (event === "error") setToast("Error");
      }
      show(await client.threads.get(thread));
      setToast((now) => now || "done");
      await list();
    } catch {
      setToast("Failed to submit response.");
    }
  };
  const edit = () => {
    const { action, args } = asked.action_request;
    const name = Object.keys(args)[0];
    return submit({ type: "edit", args: { action, args: { ...args, [name]: text } } });
  };
  const ignore = async () => {
    await client.runs.create(thread, agent, { command: { resume: [{ type: "ignore", args: null }] } });
    await list();
    setToast("ignored");
  };
  const resolve = async () => {
    await client.threads.updateState(thread, { values: null, asNode: "__end__" });
    await list();
    setToast("resolved");
  };

  return h("main", null, [
    h("h1", { key: "h1" }, "inbox"),
    line("asked", asked),
    line("toast", toast),
    line("nodes", nodes),
    line("left", left),
    h("input", { key: "text", value: text, onChange: (event) => setText(event.target.value) }),
    button("accept", () => submit({ type: "accept", args: null })),
    button("edit", edit),
    button("respond", () => submit({ type: "response", args: text })),
    button("ignore", ignore),
    button("resolve", resolve),
  ]);
}

// One page for both hooks: what differs is how an answer is sent.
function Chat({ name, stream, answer }) {
  const [text, setText] = useState("");
  const [refusal, setRefusal] = useState("");
  const attempt = (sent) => Promise.resolve(sent).catch((error) => setRefusal(String(error?.message ?? error)));
  const decide = (decision) => attempt(answer({ decisions: [decision] }));
  const action = stream.interrupt?.value?.action_requests?.[0];
  const said = stream.messages.map((one) => [one.type ?? one.getType(), one.content]).filter(([, content]) => content);
  return h("main", null, [
    h("h1", { key: "h1" }, name),
    line("asked", stream.interrupt?.value),
    line("said", said),
    line("loading", stream.isLoading),
    line("refusal", refusal || String(stream.error?.message ?? stream.error ?? "")),
    h("input", { key: "text", value: text, onChange: (event) => setText(event.target.value) }),
    button("send", () => attempt(stream.submit({ messages: [{ type: "human", content: text }] }))),
    button("accept", () => decide({ type: "approve" })),
    button("edit", () => {
      const args = { ...action.args, [Object.keys(action.args)[0]]: text };
      return decide({ type: "edit", edited_action: { name: action.name, args } });
    }),
    button("respond", () => decide({ type: "respond", message: text })),
    button("reject", () => decide({ type: "reject", message: text })),
    button("resolve", () => attempt(stream.submit({}, { command: { goto: "__end__" } }))),
  ]);
}

// As agent-chat-ui: the history is fetched, so every submit names the checkpoint that the page knows.
function First() {
  const stream = useFirst({
    apiUrl: url,
    apiKey: key,
    assistantId: agent,
    threadId: thread,
    messagesKey: "messages",
    fetchStateHistory: true,
    reconnectOnMount: true,
  });
  return h(Chat, { name: "first", stream, answer: (resume) => stream.submit({}, { command: { resume } }) });
}

function Second() {
  const stream = useSecond({ apiUrl: url, apiKey: key, assistantId: agent, threadId: thread });
  const [held, setHeld] = useState();
  // By its id: without one the hook takes what its stream told last, which may be nothing yet.
  const answer = (response) => stream.respond(response, { interruptId: held ?? stream.interrupt.id });
  return h("div", null, [
    button("hold", () => setHeld(stream.interrupt.id)),
    h(Chat, { key: "chat", name: "second", stream, answer }),
  ]);
}

createRoot(document.querySelector("#root")).render(h({ inbox: Inbox, first: First, second: Second }[query.get("client")]));
