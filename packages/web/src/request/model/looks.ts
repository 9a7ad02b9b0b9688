/** The ways in which what will run can be looked at. Each of them is complete. */
import type { InboxRequest } from "interlock-client/inbox";
import { argsOf } from "./bodies";
import { type Argument, argumentsOf, spelled, textArgument } from "./json-lines";

export type Look = "command" | "diff" | "plan" | "arguments" | "json";

export function looksOf(request: InboxRequest): Look[] {
  if (request.view.type === "command") return [...ownLooks(request), "command", "json"];
  if (request.view.type === "file" && hasDifference(request)) return ["diff", "arguments", "json"];
  return [...ownLooks(request), "arguments", "json"];
}

/** What the server knows a call of a coding agent to be. */
function ownLooks({ view: { presentation } }: InboxRequest): Look[] {
  if (presentation?.markdown) return ["plan"];
  return presentation?.changes.length ? ["diff"] : [];
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
  const shows = request.view.presentation?.shows;
  if (shows && !hasDifference(request)) {
    return argumentsOf(request.view.lines).filter((argument) => !shows.includes(argument.name));
  }
  const given = argsOf(request);
  // By its name, too: another one may have the same value.
  const isShown = (name: string) =>
    (["path", "file_path"].includes(name) && given[name] === file?.path) ||
    (["content", "text"].includes(name) && given[name] === file?.after) ||
    (tool === "edit_file" && ["old", "new", "old_string", "new_string"].includes(name));
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
      return [...changedTexts(request), ...inArguments(restOf(request))];
    case "plan":
      return [...(request.view.presentation?.markdown ?? "").split("\n"), ...inArguments(restOf(request))];
    case "arguments":
      return inArguments(argumentsOf(request.view.lines));
    case "json":
      return jsonOf(request);
  }
}

function changedTexts(request: InboxRequest): string[] {
  const { file } = request;
  if (file && hasDifference(request)) return [file.path, ...(file.after ?? "").split("\n")];
  const changes = request.view.presentation?.changes ?? [];
  return changes.flatMap(({ path, at, before, after, moved_to }) =>
    [path, at, before, after, moved_to ?? ""].flatMap((text) => text.split("\n")),
  );
}
