import { PageTitle } from "@/shell/page-title";

export function ChatPage() {
  return <PageTitle name="chat">ChatPage</PageTitle>;
}
