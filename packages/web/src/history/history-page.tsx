import { PageTitle } from "@/shell/page-title";

export function HistoryPage() {
  return <PageTitle name="history">HistoryPage</PageTitle>;
}
