import { useId, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { useCheck, useReplay, useSave } from "./api";
import { Editor, type EditorHandle } from "./editor";
import { marksOf } from "./marks";
import styles from "./policy.module.css";
import { type Checked, Problems } from "./problems";
import { Replay } from "./replay";
import { type Draft, useSettled } from "./use-draft";

const PAUSE = 400;

interface Props {
  draft: Draft;
  /** What it is to differ from, to be saved. */
  saved: string | undefined;
  onText: (text: string) => void;
  onSaved: (version: number) => void;
}

/** Where a policy is written: checked as it is typed, tried on what is on record, and saved; none of it decides yet. */
export function Workbench({ draft: { text, base }, saved, onText, onSaved }: Props) {
  const t = useTranslations("settings.policy");
  const field = useRef<EditorHandle>(null);
  const status = useId();
  const checked = useChecked(text);
  return (
    <section className={styles.workbench} aria-label={t("draft")}>
      <h2>{base === null ? t("draft") : t("draftOf", { version: base })}</h2>
      <p className={styles.hint}>{t("nothingSaved")}</p>
      <Editor
        ref={field}
        text={text}
        onText={onText}
        marks={marksOf(checked.found?.problems ?? [])}
        describedBy={status}
      />
      <Problems id={status} checked={checked} onLine={(line) => field.current?.goTo(line)} />
      <Save text={text} isOff={!checked.isUsable || text === saved} onSaved={onSaved} />
      <Past text={text} isOff={!checked.isUsable} />
    </section>
  );
}

/** What the server says of the text; of another one only until that is known. */
function useChecked(text: string): Checked {
  const settled = useSettled(text, PAUSE);
  const check = useCheck(settled);
  if (text.trim() === "") return { found: undefined, failure: null, isChecking: false, isUsable: false };
  const isChecking = settled !== text || check.isPlaceholderData || check.isFetching;
  return {
    found: check.data,
    failure: check.error?.message ?? null,
    isChecking,
    isUsable: !isChecking && check.data?.usable === true,
  };
}

function Past({ text, isOff }: { text: string; isOff: boolean }) {
  const t = useTranslations("settings.policy.replay");
  const replay = useReplay();
  return (
    <>
      <div className={styles.acts}>
        <Button disabled={isOff || replay.isPending} onClick={() => replay.mutate(text)}>
          {t(replay.isPending ? "under" : "do")}
        </Button>
        <span className={styles.hint}>{t("what")}</span>
      </div>
      {replay.isError && <p role="alert">{t("failed", { message: replay.error.message })}</p>}
      {replay.data && replay.variables === text && <Replay report={replay.data} />}
    </>
  );
}

function Save({ text, isOff, onSaved }: { text: string; isOff: boolean; onSaved: Props["onSaved"] }) {
  const t = useTranslations("settings.policy");
  const [note, setNote] = useState("");
  const save = useSave();
  const done = () => setNote("");
  return (
    <form
      className={styles.save}
      onSubmit={(event) => {
        event.preventDefault();
        if (isOff) return;
        save.mutate(
          { text, note },
          {
            onSuccess: ({ version }) => {
              done();
              onSaved(version);
            },
          },
        );
      }}
    >
      <label>
        {t("note")}
        <input value={note} maxLength={1000} onChange={(event) => setNote(event.target.value)} />
      </label>
      <Button type="submit" look="primary" disabled={isOff || save.isPending}>
        {t("save")}
      </Button>
      {save.isError && <p role="alert">{t("saveFailed", { message: save.error.message })}</p>}
      <p role="status">
        {save.isSuccess && save.variables.text === text && t("saved", { version: save.data.version })}
      </p>
    </form>
  );
}
