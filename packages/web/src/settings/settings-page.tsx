import { PageTitle } from "@/shell/page-title";

export function SettingsPage() {
  return <PageTitle name="settings">SettingsPage</PageTitle>;
}
