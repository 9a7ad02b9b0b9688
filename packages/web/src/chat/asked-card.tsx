import { useQuery } from "@tanstack/react-query";
import type { InboxRequest } from "interlock-client/inbox";
import { type RefObject, useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { get } from "@/api/transport";
import { addressOf, requestKey } from "@/request/api/use-request";
import { useEndWords } from "@/request/ended";
import { AgentText } from "@/request/forms/agent-text";
import { RequestView } from "@/request/request-view";
import { Revealed } from "@/text/revealed";
import styles from "./conversation.module.css";
import type { Asked } from "./state/model";

/** A request in its conversation. One that was open here stays as it is when it is settled: it becomes the receipt. */
export function AskedCard({ asked, isOpen }: { asked: Asked; isOpen: boolean }) {
  const [wasOpen, setWasOpen] = useState(isOpen);
  if (isOpen && !wasOpen) setWasOpen(true);
  if (!wasOpen) return <Settled asked={asked} />;
  return (
    <div className={styles.request} data-asked={isOpen ? "open" : "settled"}>
      <RequestView id={asked.id} embedded />
    </div>
  );
}

/** What was asked, and what became of it by whom; on the request's own page there is more. */
function Settled({ asked: { id, kind, tool } }: { asked: Asked }) {
  const t = useTranslations("chat");
  const kinds = useTranslations("shell.kind");
  const endWords = useEndWords();
  const place = useRef<HTMLDivElement>(null);
  const request = useSettled(id, useNear(place));
  return (
    <div ref={place} className={styles.past}>
      <span className={styles.asked}>
        {tool !== null && <Revealed text={request?.headline ?? tool} />}
        {tool === null && (request ? <AgentText text={request.headline} /> : kinds(kind))}
      </span>
      <span>{request ? endWords(request) : t("settled")}</span>
      <Link href={`/requests/${encodeURIComponent(id)}`}>{t("seeRequest")}</Link>
    </div>
  );
}

/** It changes no more: read once. */
function useSettled(id: string, isNear: boolean): InboxRequest | null {
  const query = useQuery({
    queryKey: requestKey(id),
    enabled: isNear,
    queryFn: ({ signal }) => get<InboxRequest>(addressOf(id), {}, signal),
  });
  return query.data && query.data.status !== "pending" ? query.data : null;
}

/** From when on it has been near the screen: a conversation may hold very many. */
function useNear(place: RefObject<HTMLElement | null>): boolean {
  const [isNear, setNear] = useState(false);
  useEffect(() => {
    const element = place.current;
    if (isNear || !element) return;
    const look = ([entry]: IntersectionObserverEntry[]) => setNear(entry?.isIntersecting ?? false);
    const observer = new IntersectionObserver(look, { rootMargin: "400px 0px" });
    observer.observe(element);
    return () => observer.disconnect();
  }, [isNear, place]);
  return isNear;
}
