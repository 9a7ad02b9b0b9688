import type { InboxRequest } from "interlock-client/inbox";
import { Check, Copy } from "lucide-react";
import { useId, useMemo } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Heading, Region } from "@/design/outline";
import { Risk } from "@/design/risk";
import { useCopy } from "../copy";
import { argumentsOf } from "../model/json-lines";
import { copyOf, hasDifference, jsonOf, type Look, looksOf, restOf } from "../model/looks";
import { isDeletion } from "../model/preview";
import { isRisky } from "../model/remember";
import { type Mode, useReview } from "../review";
import { ArgumentsView } from "./arguments-view";
import { DiffView } from "./diff-view";
import { EndLine } from "./end-line";
import { FileChanges } from "./file-changes";
import { Lines } from "./lines";
import styles from "./panel.module.css";
import { Plan } from "./plan";
import { PreviewView } from "./preview-view";

/** So many lines of what would be lost are seen without a click. */
const SHORT = 20;

/** What will run, before everything else and to its last line. */
export function RunPanel() {
  const t = useTranslations("request.run");
  const { request, look, mode } = useReview();
  const heading = useId();
  const place = isRisky(request) ? styles.risky : styles[request.risk ?? "medium"];
  return (
    <Region className={`${styles.panel} ${place}`} aria-labelledby={heading} tabIndex={-1} data-act="run">
      <div className={styles.top}>
        <Risk level={request.risk} />
        <Heading id={heading} className={styles.heading}>
          {t(titleOf(request, mode))}
        </Heading>
        <div className={styles.ways}>
          <Looks />
          <CopyButton />
        </div>
      </div>
      <div className={styles.body}>
        <Shown look={look} />
        <FileNow />
        <PreviewView />
      </div>
      <EndLine />
    </Region>
  );
}

/** While it is edited, what will run stands in the form. */
function titleOf({ status, view }: InboxRequest, mode: Mode) {
  if (view.presentation?.markdown) return "planTitle";
  if (status !== "pending") return "settledTitle";
  return mode === "edit" ? "editedTitle" : "title";
}

function Shown({ look }: { look: Look }) {
  const t = useTranslations("request.run");
  const { request } = useReview();
  const rest = useMemo(() => restOf(request), [request]);
  const given = useMemo(() => argumentsOf(request.view.lines), [request.view.lines]);
  const json = useMemo(() => jsonOf(request), [request]);
  switch (look) {
    case "command":
      return (
        <>
          <Lines lines={request.view.lines} prompt="$ " />
          {rest.length > 0 && <Beside>{<ArgumentsView given={rest} />}</Beside>}
        </>
      );
    case "diff":
      return (
        <>
          <Changes />
          {rest.length > 0 && <Beside>{<ArgumentsView given={rest} />}</Beside>}
        </>
      );
    case "plan":
      return (
        <>
          <Plan text={request.view.presentation?.markdown ?? ""} />
          {rest.length > 0 && <Beside>{<ArgumentsView given={rest} />}</Beside>}
        </>
      );
    case "arguments":
      return given.length > 0 ? <ArgumentsView given={given} /> : <p className={styles.note}>{t("nothing")}</p>;
    case "json":
      return <Lines lines={json} />;
  }
}

/** Of the file as it is, where that is known; else of the places that the call names. */
function Changes() {
  const { request } = useReview();
  if (request.file && hasDifference(request)) return <DiffView file={request.file} />;
  return <FileChanges changes={request.view.presentation?.changes ?? []} />;
}

function Beside({ children }: { children: React.ReactNode }) {
  const t = useTranslations("request.run");
  return (
    <div className={styles.beside}>
      <Heading isInner className={styles.small}>
        {t("beside")}
      </Heading>
      {children}
    </div>
  );
}

/** The file that a call names, where its change cannot be shown: what it would be done to. */
function FileNow() {
  const t = useTranslations("request.run");
  const { request } = useReview();
  const { file, view } = request;
  if (!file || (view.type === "file" && hasDifference(request))) return null;
  const lines = file.text?.replace(/\n$/, "").split("\n") ?? [];
  return (
    <>
      {!file.exists && <p className={styles.note}>{t("noFile")}</p>}
      {file.exists && view.type === "file" && <p className={styles.note}>{t("noDifference")}</p>}
      {file.exists && file.text !== null && (
        <details className={styles.now} open={isDeletion(request) && lines.length <= SHORT}>
          <summary>{t("fileNow", { lines: file.text === "" ? 0 : lines.length })}</summary>
          <Lines lines={lines} />
        </details>
      )}
    </>
  );
}

function Looks() {
  const t = useTranslations("request.run");
  const { request, look, setLook } = useReview();
  return (
    <fieldset className={styles.looks}>
      <legend className="only-read-aloud">{t("looks")}</legend>
      {looksOf(request).map((one) => (
        <button
          key={one}
          type="button"
          className={styles.look}
          aria-pressed={one === look}
          onClick={() => setLook(one)}
        >
          {t(`look.${one}`)}
        </button>
      ))}
    </fieldset>
  );
}

function CopyButton() {
  const t = useTranslations("request.run");
  const { request, look } = useReview();
  const { isCopied, copy } = useCopy();
  const Icon = isCopied ? Check : Copy;
  return (
    <Button look="quiet" className={styles.copy} onClick={() => copy(copyOf(request, look))}>
      <Icon aria-hidden="true" size={14} /> <span className={styles.word}>{isCopied ? t("copied") : t("copy")}</span>
    </Button>
  );
}
