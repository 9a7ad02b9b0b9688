/** A handler that acts on every kind of error: it tells the person, clears what is over, and connects again. */
import type { ConfirmationError } from "./errors.js";
import { ConfirmationHandler } from "./handler.js";
import { Wording } from "./wording.js";

export type Level = "info" | "warning" | "error";

/** Implement `onConfirmationRequested`; `showNotification` where the person looks. */
export abstract class ErrorHandlingConfirmationClient extends ConfirmationHandler {
  protected get wording(): Wording {
    return Wording.of(this.locale);
  }

  protected override onError(error: ConfirmationError): void {
    this.handleConfirmationError(error);
  }

  handleConfirmationError(error: ConfirmationError): void {
    switch (error.error_type) {
      case "timeout":
        this.showTimeoutMessage(error);
        this.clearPendingConfirmation(error.step_id);
        break;
      case "invalid_step_id":
        this.showError(error);
        // With a status it is settled; else it is not of this session, and what is known here is not what is so.
        if ("status" in error.details) this.clearPendingConfirmation(error.step_id);
        else this.clearAllPendingConfirmations();
        break;
      case "session_not_found":
        this.handleSessionExpired();
        break;
      case "network_error":
        this.handleNetworkError(error);
        break;
      default:
        this.showError(error);
    }
  }

  showTimeoutMessage(error: ConfirmationError): void {
    this.showNotification(this.wording.text("timedOut", { seconds: String(error.timeout_seconds ?? "?") }), "warning");
  }

  showError(error: ConfirmationError): void {
    const detail = this.config.showDetailedErrors ? `: ${error.message}` : "";
    this.showNotification(`${error.error_type}${detail}`, "error");
  }

  showNotification(message: string, level: Level = "info"): void {
    const log = { info: console.info, warning: console.warn, error: console.error }[level];
    log(message);
  }

  handleSessionExpired(): void {
    this.clearAllPendingConfirmations();
    this.showNotification(this.wording.text("sessionExpired"), "error");
    this.reconnect();
  }

  handleNetworkError(error: ConfirmationError): void {
    this.showNotification(this.wording.text("connectionLost", { detail: error.message }), "error");
  }

  clearPendingConfirmation(stepId: string | undefined): void {
    if (stepId !== undefined) this.settle(stepId);
  }

  clearAllPendingConfirmations(): void {
    for (const { stepId } of this.getPendingConfirmations()) this.settle(stepId);
  }
}
