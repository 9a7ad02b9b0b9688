/**
 * A dialog for one confirmation. Texts of an agent are only ever texts of a node: no markup is read from them, and what
 * would hide or reorder them is written out.
 */
import { visible } from "../visible.js";
import { type ConfirmationRequest, type ConfirmationResponse, isHighRisk } from "./confirmations.js";
import { type Field, fieldsOf, responseOf } from "./forms.js";
import type { Wording } from "./wording.js";

type Decide = (response: ConfirmationResponse) => void;

export class ConfirmationDialog {
  readonly element: HTMLDialogElement;
  readonly #document: Document;
  readonly #request: ConfirmationRequest;
  readonly #wording: Wording;
  readonly #decide: Decide;
  readonly #cancel: HTMLButtonElement;

  constructor(document: Document, request: ConfirmationRequest, wording: Wording, decide: Decide) {
    this.#document = document;
    this.#request = request;
    this.#wording = wording;
    this.#decide = decide;
    this.element = document.createElement("dialog");
    this.element.className = "confirmation-dialog";
    this.#cancel = this.#button("cancel-btn", wording.text("cancel"), () => this.#refuse());
    const panel = this.#made("div", "dialog-panel");
    const fields = fieldsOf(request);
    panel.append(...this.#shown(), ...(fields.length > 0 ? this.#form(fields) : this.#approval()));
    this.element.append(panel);
    this.element.addEventListener("keydown", (event) => this.#keyPressed(event));
    this.element.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.#refuse();
    });
  }

  show(container: Element): void {
    container.append(this.element);
    this.element.showModal();
    this.#cancel.focus();
  }

  close(): void {
    this.element.close();
    this.element.remove();
  }

  #shown(): Element[] {
    const { message, toolName, toolDescription, riskLevel, toolArgs, kind } = this.#request;
    const isApproval = kind === "approval";
    const title = this.#made("h3", "dialog-title", this.#wording.text(isApproval ? "title" : "asked"));
    const what = this.#row("message", visible(message));
    if (!isApproval) return [title, what];
    const details = this.#made("details", "dialog-arguments");
    // Open: who confirms has seen them.
    details.open = true;
    details.append(
      this.#made("summary", "", this.#wording.text("arguments")),
      this.#made("pre", "tool-args", visible(JSON.stringify(toolArgs, null, 2))),
    );
    return [
      title,
      what,
      this.#row("tool", visible(toolName, "")),
      this.#row("description", visible(toolDescription)),
      this.#row("risk", visible(riskLevel, "")),
      details,
    ];
  }

  #approval(): Element[] {
    const confirm = this.#button("confirm-btn", this.#wording.text("run"), () => {
      this.#decide({ confirmed: true, reason: this.#wording.text("confirmed") });
    });
    if (!isHighRisk(this.#request)) return [this.#actions(confirm)];
    const name = visible(this.#request.toolName, "");
    const typed = this.#made("input", "tool-name");
    typed.autocomplete = "off";
    const label = this.#made("label", "type-name", this.#wording.text("typeName", { name }));
    label.append(typed);
    confirm.disabled = true;
    typed.addEventListener("input", () => {
      confirm.disabled = name === "" || typed.value.trim() !== name;
    });
    return [label, this.#actions(confirm)];
  }

  #form(fields: Field[]): Element[] {
    const controls = fields.map((one) => this.#control(one));
    const hint = this.#made("p", "dialog-hint");
    hint.setAttribute("role", "alert");
    const send = this.#button("confirm-btn", this.#wording.text("send"), () => {
      const values = controls.map((one) => one.value());
      if (fields.some((one, place) => one.required && !values[place])) {
        hint.textContent = this.#wording.text("required");
        return;
      }
      const response = responseOf(this.#request, values);
      this.#decide({ confirmed: true, metadata: { response } });
    });
    return [...controls.map((one) => one.element), hint, this.#actions(send)];
  }

  #control(one: Field): { element: Element; value(): string } {
    const element = this.#made("label", "dialog-field");
    element.append(this.#made("span", "field-label", visible(one.label)));
    const select = one.options.length > 0 ? this.#choice(one) : undefined;
    const input = one.allowCustom || !select ? this.#made("input", "field-input") : undefined;
    if (input) {
      input.type = one.secret ? "password" : "text";
      input.autocomplete = "off";
      if (select) input.placeholder = this.#wording.text("ownWords");
    }
    element.append(...[select, input].filter((part) => part !== undefined));
    // A secret is taken as it was typed.
    const typed = () => (one.secret ? input?.value : input?.value.trim());
    return { element, value: () => typed() || select?.value || "" };
  }

  #choice(one: Field): HTMLSelectElement {
    const select = this.#made("select", "field-options");
    const none = this.#made("option", "", this.#wording.text("choose"));
    none.value = "";
    select.append(none);
    for (const { value, label } of one.options) {
      const option = this.#made("option", "", visible(label, ""));
      option.value = value;
      select.append(option);
    }
    return select;
  }

  #actions(confirm: HTMLButtonElement): Element {
    const actions = this.#made("div", "dialog-actions");
    actions.append(confirm, this.#cancel);
    return actions;
  }

  #row(name: "message" | "tool" | "description" | "risk", text: string): Element {
    const row = this.#made("p", `dialog-${name}`);
    row.append(this.#made("strong", "", `${this.#wording.text(name)}: `), this.#made("span", "", text));
    return row;
  }

  #button(className: string, text: string, act: () => void): HTMLButtonElement {
    const button = this.#made("button", className, text);
    button.type = "button";
    button.addEventListener("click", (event) => {
      // The second click of two was meant for what was shown before.
      if (event.detail <= 1) act();
    });
    return button;
  }

  /** Enter confirms nothing, wherever the focus is: it may have been meant for something else. */
  #keyPressed(event: KeyboardEvent): void {
    if (event.key === "Enter" && !event.isComposing && event.target !== this.#cancel) event.preventDefault();
  }

  #refuse(): void {
    this.#decide({ confirmed: false, reason: this.#wording.text("refused") });
  }

  #made<K extends keyof HTMLElementTagNameMap>(tag: K, className: string, text = ""): HTMLElementTagNameMap[K] {
    const made = this.#document.createElement(tag);
    if (className) made.className = className;
    if (text) made.textContent = text;
    return made;
  }
}
