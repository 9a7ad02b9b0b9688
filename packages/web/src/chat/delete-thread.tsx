import { Trash2 } from "lucide-react";
import { useState } from "react";
import { useTranslations } from "use-intl";
import { useLocation } from "wouter";
import { Button } from "@/design/button";
import { Dialog } from "@/design/dialog";
import styles from "./chat-page.module.css";
import { useDeleteThread } from "./threads";

export function DeleteThread({ thread }: { thread: string }) {
  const t = useTranslations("chat");
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button look="quiet" onClick={() => setAsking(true)}>
        <Trash2 size={16} aria-hidden="true" /> {t("delete")}
      </Button>
      {isAsking && <Confirm thread={thread} onClose={() => setAsking(false)} />}
    </>
  );
}

function Confirm({ thread, onClose }: { thread: string; onClose: () => void }) {
  const t = useTranslations("chat");
  const [, navigate] = useLocation();
  const deleting = useDeleteThread();
  return (
    <Dialog title={t("deleting.title")} onClose={onClose}>
      <p>{t("deleting.what")}</p>
      {deleting.isError && (
        <p className={styles.trouble} role="alert">
          {t("cannot.delete", { message: deleting.error.message })}
        </p>
      )}
      <div className={styles.actions}>
        <Button onClick={onClose}>{t("deleting.keep")}</Button>
        <Button
          look="danger"
          disabled={deleting.isPending}
          // The page may hear of it before the reply comes, and this be gone by then.
          onClick={() =>
            deleting.mutateAsync(thread).then(
              () => navigate("/chat"),
              () => undefined,
            )
          }
        >
          {t("deleting.do")}
        </Button>
      </div>
    </Dialog>
  );
}
