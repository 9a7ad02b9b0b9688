import { PageTitle } from "@/shell/page-title";

export function RequestPage({ id }: { id: string }) {
  return <PageTitle name={id}>{id}</PageTitle>;
}
