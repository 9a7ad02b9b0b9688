/** New requests, told to those who do not look at the list: read aloud, and as notifications of the machine. */
import type { InboxEntry } from "interlock-client/inbox";
import { useEffect, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { useLocation } from "wouter";
import { useLiveEvents } from "@/api/live-context";
import { usePerson } from "@/api/session";
import { usePreferences } from "@/preferences/store";
import { useAnnounce } from "./announcer";
import { arrived, type News, newsOf } from "./notices";
import { canNotify, Notices } from "./notifications";
import { Bursts } from "./pace";

const BURST = 5_000;

/** Once on a page. */
export function Arrivals() {
  useAnnouncements();
  useNotifications();
  return null;
}

function useAnnouncements(): void {
  const announce = useAnnounce();
  const spell = useAnnouncement();
  const add = useBursts((entries) => {
    const news = newsOf(entries);
    if (news) announce(spell(news));
  });
  useArrivals(add);
}

function useNotifications(): void {
  const { notifications, push } = usePreferences();
  const { user_id } = usePerson();
  const [, navigate] = useLocation();
  const spell = useNotice();
  const [notices] = useState(() => new Notices());
  const add = useBursts((entries) => {
    const news = newsOf(entries);
    if (!news || !document.hidden) return;
    const target = news.type === "many" ? "/inbox" : `/requests/${news.requestId}`;
    notices.show(spell(news), entries, () => navigate(target));
  });
  useEffect(() => notices.clear, [notices]);
  useEffect(() => {
    const seen = () => {
      if (!document.hidden) notices.clear();
    };
    document.addEventListener("visibilitychange", seen);
    return () => document.removeEventListener("visibilitychange", seen);
  }, [notices]);
  useLiveEvents((event) => {
    if (event.type === "settled") notices.settled(event.settled.request_id);
  });
  useArrivals((entry) => {
    // Where the server tells the browser itself, the page would tell it twice.
    if (notifications && push?.person !== user_id && canNotify() && document.hidden) add(entry);
  });
}

/** What is asked, or put only now to this person too; each once. */
function useArrivals(take: (entry: InboxEntry) => void): void {
  const told = useRef(new Set<string>());
  useLiveEvents((event) => {
    const entry = arrived(event);
    if (!entry || told.current.has(entry.request_id)) return;
    told.current.add(entry.request_id);
    take(entry);
  });
}

/** The newest `tell` is the one that is called. */
function useBursts(tell: (entries: readonly InboxEntry[]) => void): (entry: InboxEntry) => void {
  const newest = useRef(tell);
  useEffect(() => {
    newest.current = tell;
  });
  const [bursts] = useState(() => new Bursts<InboxEntry>(BURST, (entries) => newest.current(entries)));
  useEffect(() => bursts.stop, [bursts]);
  return bursts.add;
}

function useAnnouncement(): (news: News) => string {
  const t = useTranslations("shell");
  return (news) => {
    if (news.type === "many") return t("arrived.many", { count: news.count });
    const { agent } = news;
    const kind = t(`kind.${news.kind}`);
    if (news.type === "one") return t("arrived.one", { kind, agent });
    return t("arrived.call", { kind, agent, tool: news.tool, risk: t(`risk.${news.risk}`) });
  };
}

function useNotice(): (news: News) => { title: string; body: string } {
  const t = useTranslations("shell");
  return (news) => {
    if (news.type === "many") {
      const { agents, risk } = news;
      const body = risk ? t("notice.manyBody", { agents, risk: t(`risk.${risk}`) }) : t("notice.manyPlain", { agents });
      return { title: t("notice.many", { count: news.count }), body };
    }
    const { agent } = news;
    const title = t("notice.title", { kind: t(`kind.${news.kind}`) });
    if (news.type === "one") return { title, body: t("notice.plain", { agent }) };
    return { title, body: t("notice.call", { agent, tool: news.tool, risk: t(`risk.${news.risk}`) }) };
  };
}
