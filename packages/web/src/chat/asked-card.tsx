import { useState } from "react";
import { useTranslations } from "use-intl";
import { Link } from "wouter";
import { Name } from "@/request/names";
import { RequestView } from "@/request/request-view";
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

function Settled({ asked: { id, kind, tool } }: { asked: Asked }) {
  const t = useTranslations("chat");
  const kinds = useTranslations("shell.kind");
  const name = () => <Name text={tool ?? ""} />;
  return (
    <p className={styles.past}>
      <span>
        {tool === null ? t("asked", { kind: kinds(kind) }) : t.rich("askedTool", { kind: kinds(kind), tool: name })}
      </span>
      <Link href={`/requests/${encodeURIComponent(id)}`}>{t("seeRequest")}</Link>
    </p>
  );
}
