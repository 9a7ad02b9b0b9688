import { PageTitle } from "@/shell/page-title";

export function LoginPage() {
  return <PageTitle name="login">LoginPage</PageTitle>;
}
