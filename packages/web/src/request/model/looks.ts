/** The ways in which what will run can be looked at. Each of them is complete. */
import type { InboxRequest } from "interlock-client/inbox";
import { argsOf } from "./bodies";
import { type Argument, argumentsOf, spelled, textArgument } from "./json-lines";

export type Look = "command" | "diff" | "arguments" | "json";

export function looksOf(request: InboxRequest): Look[] {
  if (request.view.type === "command") return ["command", "json"];
  if (request.view.type === "file" && hasDifference(request)) return ["diff", "arguments", "json"];
  return ["arguments", "json"];
}

export function hasDifference({ file }: InboxRequest): boolean {
  return !!file && file.after !== null && (file.text !== null || !file.exists);
}

/** The look after this one. */
export function nextLook(looks: readonly Look[], look: Look): Look {
  return looks[(looks.indexOf(look) + 1) % looks.length] ?? look;
}

export function jsonOf(request: InboxRequest): string[] {
  const { type, lines } = request.view;
  return type === "command" ? spelled([textArgument("command", lines.join("\n")), ...restOf(request)]) : lines;
}

/** The arguments beside the command, or beside those that a difference shows. */
export function restOf(request: InboxRequest): Argument[] {
  if (request.view.type === "command") return argumentsOf(request.view.rest);
  const { file, tool } = request;
  const given = argsOf(request);
  // By its name, too: another one may have the same value.
  const isShown = (name: string) =>
    (name === "path" && given.path === file?.path) ||
    (name === "content" && given.content === file?.after) ||
    (tool === "edit_file" && ["old", "new"].includes(name));
  return argumentsOf(request.view.lines).filter((argument) => !file || !isShown(argument.name));
}

/** As it is copied: the server's own text. */
export function copyOf(request: InboxRequest, look: Look): string {
  return (look === "command" ? request.view.lines : jsonOf(request)).join("\n");
}

/** The texts that a look puts on the screen, to count in them what would not have been seen. */
export function textsOf(request: InboxRequest, look: Look): string[] {
  const inArguments = (given: Argument[]) => given.flatMap(({ name, lines, text }) => [name, ...(text ?? lines)]);
  switch (look) {
    case "command":
      return [...request.view.lines, ...inArguments(restOf(request))];
    case "diff":
      return [request.file?.path ?? "", ...(request.file?.after ?? "").split("\n"), ...inArguments(restOf(request))];
    case "arguments":
      return inArguments(argumentsOf(request.view.lines));
    case "json":
      return jsonOf(request);
  }
}
