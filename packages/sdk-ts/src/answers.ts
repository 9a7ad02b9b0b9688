/** What asks give back. */
import { isObject, type JsonObject, textOf } from "./json.js";

export interface Decision {
  /** The key of the option that was chosen. */
  decision: string;
  reason: string;
}

export interface Approval {
  decision: "accept" | "reject" | "edit" | "response";
  granted: boolean;
  /** The arguments to run with: those that were shown, or the person's edit. */
  args: JsonObject;
  /** Why it was refused, or what the person answered in the tool's place. */
  message: string;
}

/** The response of the hitl face, to a tool call that was shown with these arguments. */
export function approvalOf(response: JsonObject, args: JsonObject): Approval {
  // Anything but a clear yes is a no.
  if (response.granted === true) {
    const edited = isObject(response.args) ? response.args : undefined;
    return { decision: edited ? "edit" : "accept", granted: true, args: edited ?? args, message: "" };
  }
  const isReply = "reply" in response;
  const message = textOf(isReply ? response.reply : response.reason);
  return { decision: isReply ? "response" : "reject", granted: false, args, message };
}
