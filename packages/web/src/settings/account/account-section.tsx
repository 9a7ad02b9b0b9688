import { PasswordForm } from "./password-form";
import { SessionsList } from "./sessions-list";

/** A person's own account. */
export function AccountSection() {
  return (
    <>
      <PasswordForm />
      <SessionsList />
    </>
  );
}
