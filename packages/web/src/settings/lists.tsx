/** What the lists of the settings have in common. */
import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import { Name } from "@/request/names";
import { Failed } from "@/shell/failed";
import { Loading } from "@/shell/loading";
import { type Listed, useEnd } from "./api";
import styles from "./settings.module.css";

/** Whether everybody's are listed: for admins alone. */
export function useEverybody(): { everybody: boolean; choice: ReactNode } {
  const t = useTranslations("settings");
  const { role } = usePerson();
  const [everybody, setEverybody] = useState(false);
  if (role !== "admin") return { everybody: false, choice: null };
  const choice = (
    <label className={styles.check}>
      <input type="checkbox" checked={everybody} onChange={(event) => setEverybody(event.target.checked)} />
      {t("everybody")}
    </label>
  );
  return { everybody, choice };
}

export function Owner({ id }: { id: string }) {
  const t = useTranslations("settings");
  return <span>{t.rich("owner", { id: () => <Name text={id} /> })}</span>;
}

/** A list that may be on its way, have failed, or be empty. */
export function Read<T>(props: {
  query: UseQueryResult<T>;
  none: string;
  isEmpty: (data: T) => boolean;
  children: (data: T) => ReactNode;
}) {
  const { query, none, isEmpty, children } = props;
  if (query.isPending) return <Loading />;
  if (query.isError) return <Failed error={query.error} onRetry={() => void query.refetch()} />;
  return isEmpty(query.data) ? <p className={styles.none}>{none}</p> : children(query.data);
}

interface EndProps {
  list: Listed;
  id: string;
  words: { act: string; title: string; what: string; do: string };
  /** What it is that ends. */
  children: ReactNode;
}

/** The button that ends something, and the question before it. */
export function EndButton({ words, ...rest }: EndProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button onClick={() => setAsking(true)}>{words.act}</Button>
      {isAsking && <Confirm words={words} {...rest} onClose={() => setAsking(false)} />}
    </>
  );
}

function Confirm({ list, id, words, children, onClose }: EndProps & { onClose: () => void }) {
  const t = useTranslations("settings");
  const ending = useEnd(list);
  return (
    <Dialog title={words.title} onClose={onClose}>
      <div className={styles.subject}>{children}</div>
      <p>{words.what}</p>
      {ending.isError && (
        <p className={styles.trouble} role="alert">
          {t("failed", { message: ending.error.message })}
        </p>
      )}
      <div className={styles.actions}>
        <Button onClick={onClose}>{t("cancel")}</Button>
        <Button look="danger" disabled={ending.isPending} onClick={() => ending.mutate(id, { onSuccess: onClose })}>
          {words.do}
        </Button>
      </div>
    </Dialog>
  );
}
