import { Copy } from "lucide-react";
import { useId, useMemo } from "react";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { Risk } from "@/design/risk";
import { useCopy } from "../copy";
import { argumentsOf } from "../model/json-lines";
import { copyOf, jsonOf, type Look, looksOf, restOf } from "../model/looks";
import { isRisky } from "../model/remember";
import { useReview } from "../review";
import { ArgumentsView } from "./arguments-view";
import { DiffView } from "./diff-view";
import { EndLine } from "./end-line";
import { Lines } from "./lines";
import styles from "./panel.module.css";

/** What will run, before everything else and to its last line. */
export function RunPanel() {
  const t = useTranslations("request.run");
  const { request, look } = useReview();
  const heading = useId();
  const place = isRisky(request) ? styles.risky : styles[request.risk ?? "medium"];
  return (
    <section className={`${styles.panel} ${place}`} aria-labelledby={heading} tabIndex={-1} data-act="run">
      <div className={styles.top}>
        <Risk level={request.risk} />
        <h2 id={heading} className={styles.heading}>
          {request.status === "pending" ? t("title") : t("settledTitle")}
        </h2>
        <Looks />
        <CopyButton />
      </div>
      <div className={styles.body}>
        <Shown look={look} />
        <FileNow />
      </div>
      <EndLine />
    </section>
  );
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
          {request.file && <DiffView file={request.file} />}
          {rest.length > 0 && <Beside>{<ArgumentsView given={rest} />}</Beside>}
        </>
      );
    case "arguments":
      return given.length > 0 ? <ArgumentsView given={given} /> : <p className={styles.note}>{t("nothing")}</p>;
    case "json":
      return <Lines lines={json} />;
  }
}

function Beside({ children }: { children: React.ReactNode }) {
  const t = useTranslations("request.run");
  return (
    <div className={styles.beside}>
      <h3 className={styles.small}>{t("beside")}</h3>
      {children}
    </div>
  );
}

/** The file that a call names, where its change cannot be shown: what it would be done to. */
function FileNow() {
  const t = useTranslations("request.run");
  const { request, look } = useReview();
  const { file, view } = request;
  if (!file || look === "diff" || looksOf(request).includes("diff")) return null;
  const lines = file.text?.replace(/\n$/, "").split("\n") ?? [];
  return (
    <>
      {view.type === "file" && <p className={styles.note}>{t("noDifference")}</p>}
      {file.exists && file.text !== null && (
        <details className={styles.now}>
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
  return (
    <Button look="quiet" className={styles.copy} onClick={() => copy(copyOf(request, look))}>
      <Copy aria-hidden="true" size={14} /> {isCopied ? t("copied") : t("copy")}
    </Button>
  );
}
