import { RequestPage } from "@/request/request-page";
import { PageTitle } from "@/shell/page-title";

export function InboxPage({ requestId }: { requestId?: string }) {
  return requestId ? <RequestPage id={requestId} /> : <PageTitle name="inbox">Inbox</PageTitle>;
}
