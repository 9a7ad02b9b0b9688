/** What the server found wrong, field by field. */
import { InvalidInput } from "interlock-client/errors";

export function fieldMessage(problem: unknown, ...fields: string[]): string | undefined {
  if (!(problem instanceof InvalidInput)) return undefined;
  return problem.errors.find((one) => fields.includes(one.field))?.message;
}

/** Whether every fault stands beside its field already. */
export function isToldElsewhere(problem: unknown, known: (field: string) => boolean): boolean {
  return (
    problem instanceof InvalidInput && problem.errors.length > 0 && problem.errors.every((one) => known(one.field))
  );
}

/** A text that would have counted as a yes. */
export function readsAsRefusal(problem: unknown): boolean {
  return problem instanceof InvalidInput && problem.errors.some((one) => one.code === "reads_as_refusal");
}
