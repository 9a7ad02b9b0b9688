/** Confirming in a page. */
import { InvalidInput } from "../errors.js";
import { visible } from "../visible.js";
import type { ConfirmationRequest, ConfirmationResponse } from "./confirmations.js";
import { ConfirmationDialog } from "./dialog.js";
import { ErrorHandlingConfirmationClient, type Level } from "./error-handling.js";
import { ConfirmationError } from "./errors.js";
import type { LinkOptions } from "./link.js";

export interface WebOptions extends LinkOptions {
  /** Where dialogs are put; the page's body unless one is named. */
  container?: Element;
}

/**
 * Shows a dialog for each confirmation, one at a time.
 *
 * Escape refuses, Enter confirms nothing, and what is of high risk is confirmed by typing out the tool's name.
 */
export class WebConfirmationHandler extends ErrorHandlingConfirmationClient {
  readonly #container: Element;
  readonly #waiting: ConfirmationRequest[] = [];
  #shown: { stepId: string; dialog: ConfirmationDialog } | undefined;
  #notice: HTMLElement | undefined;

  constructor(wsUrl: string, options: WebOptions = {}) {
    // Before anything is opened.
    const container = pageOf(options);
    super(wsUrl, options);
    this.#container = container;
  }

  protected override onConfirmationRequested(request: ConfirmationRequest): void {
    this.#waiting.push(request);
    this.#showNext();
  }

  protected override onConfirmationEnded(stepId: string): void {
    const place = this.#waiting.findIndex((one) => one.stepId === stepId);
    if (place >= 0) this.#waiting.splice(place, 1);
    if (this.#shown?.stepId === stepId) this.#close();
  }

  override showNotification(message: string, level: Level = "info"): void {
    this.#notice ??= this.#container.ownerDocument.createElement("output");
    this.#notice.className = `confirmation-notice ${level}`;
    this.#notice.textContent = visible(message);
    this.#container.append(this.#notice);
  }

  protected override ended(error: unknown): void {
    super.ended(error);
    this.#notice?.remove();
    // Nobody is there to reply to; after another `connect` they are asked again.
    this.clearAllPendingConfirmations();
  }

  #showNext(): void {
    const request = this.#shown ? undefined : this.#waiting.shift();
    if (!request) return;
    const { stepId } = request;
    const decide = (response: ConfirmationResponse) => this.#decided(stepId, response);
    const dialog = new ConfirmationDialog(this.#container.ownerDocument, request, this.wording, decide);
    this.#shown = { stepId, dialog };
    dialog.show(this.#container);
  }

  #decided(stepId: string, response: ConfirmationResponse): void {
    if (this.#shown?.stepId !== stepId) return;
    try {
      this.sendConfirmation(stepId, response);
    } catch (error) {
      if (!(error instanceof ConfirmationError)) throw error;
      this.onError(error);
    }
    this.#close();
  }

  #close(): void {
    this.#shown?.dialog.close();
    this.#shown = undefined;
    this.#showNext();
  }
}

function pageOf(options: WebOptions): Element {
  const container = options.container ?? globalThis.document?.body;
  if (!container) throw new InvalidInput("there is no page: WebConfirmationHandler is for browsers");
  return container;
}
