import { useSearch } from "wouter";
import { useInboxHref } from "@/inbox/use-inbox-href";

/** The way to other requests and back to the list; how the list was narrowed goes along. */
export function useAddresses(): { inbox: string; requestAt: (id: string) => string } {
  const search = useSearch();
  const inbox = useInboxHref();
  return { inbox, requestAt: (id) => `/requests/${encodeURIComponent(id)}${search ? `?${search}` : ""}` };
}
