import { useWelcome } from "@/api/session";
import { IdentitiesList } from "./identities-list";
import { PasswordForm } from "./password-form";
import { SessionsList } from "./sessions-list";

/** A person's own account. */
export function AccountSection() {
  const welcome = useWelcome();
  return (
    <>
      {welcome.data?.passwords !== false && <PasswordForm />}
      <IdentitiesList />
      <SessionsList />
    </>
  );
}
