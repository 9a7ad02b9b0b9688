import type { JsonObject } from "interlock-client/json";
import { type RefObject, useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useTranslations } from "use-intl";
import { Heading } from "@/design/outline";
import { argsOf, schemaOf } from "../model/bodies";
import { useReview } from "../review";
import { Code } from "../views/end-line";
import { changesOf } from "./changes";
import { Changes } from "./changes-view";
import styles from "./edit.module.css";
import { EditContext, type Editing } from "./edit-context";
import { FieldView } from "./field-view";
import { formOf } from "./fields";
import { misfitsOf, serverMisfits } from "./misfits";
import { RawField } from "./raw-field";
import { unsafeIn } from "./unsafe";

export function EditForm() {
  const { request } = useReview();
  const unsafe = useMemo(() => unsafeIn(request), [request]);
  const [number] = unsafe;
  return number === undefined ? <Fields /> : <Unsafe number={number} />;
}

/** There is no edit that could be approved. */
function Unsafe({ number }: { number: string }) {
  const t = useTranslations("request.edit");
  const { request, setEdit } = useReview();
  useEffect(() => setEdit({ args: argsOf(request), misfits: [], isChanged: false }), [request, setEdit]);
  return (
    <section className={styles.edit}>
      <Heading>{t("title")}</Heading>
      <p className={styles.note}>{t.rich("unsafe", { number: () => <code key="number">{number}</code> })}</p>
    </section>
  );
}

/** The arguments as a form of the tool's own types, beside what was asked for. */
function Fields() {
  const t = useTranslations("request.edit");
  const run = useTranslations("request.run");
  const { request, draft, setDraft, situation, end } = useReview();
  const original = useMemo(() => argsOf(request), [request]);
  const form = useMemo(() => formOf(schemaOf(request), original), [request, original]);
  const [isRaw, setRaw] = useState(form.field.type === "raw");
  const args = draft.args ?? original;
  const editing = useEditing(form.schema, original, args);
  const section = useOpened();
  const change = (value: unknown) => setDraft({ args: value as JsonObject });
  return (
    <EditContext value={editing}>
      <section ref={section} className={styles.edit} inert={situation !== "open"} tabIndex={-1}>
        <div className={styles.top}>
          <Heading>{t("title")}</Heading>
          {form.field.type !== "raw" && <Ways isRaw={isRaw} onRaw={setRaw} />}
        </div>
        <p className={styles.note}>{t("note")}</p>
        {isRaw ? (
          <RawField name={t("whole")} path="" value={args} onChange={change} />
        ) : (
          <FieldView name="" path="" field={form.field} value={args} onChange={change} />
        )}
        <Heading isInner className={styles.small}>
          {t("changes")}
        </Heading>
        <Changes before={original} after={args} />
        <p ref={end.marker} className={styles.end} data-end>
          <span>{run("end")}</span>
          <Code />
        </p>
      </section>
    </EditContext>
  );
}

/** It was asked for: it comes into view, and its first field takes the focus. */
function useOpened(): RefObject<HTMLElement | null> {
  const section = useRef<HTMLElement>(null);
  useEffect(() => {
    const first = section.current?.querySelector<HTMLElement>("textarea, input, select") ?? section.current;
    first?.focus({ preventScroll: true });
    section.current?.scrollIntoView({ block: "start" });
  }, []);
  return section;
}

/** Where it does not fit, by the schema, by the server, and where JSON cannot be read. The bar is told. */
function useEditing(schema: JsonObject, original: JsonObject, args: JsonObject): Editing {
  const { request, problem, setEdit } = useReview();
  const [unreadable, setUnreadable] = useState<readonly string[]>([]);
  const misfits = useMemo(() => {
    const broken = unreadable.map((path) => ({ path, reason: "json" as const }));
    return [...broken, ...misfitsOf(schema, args)];
  }, [schema, args, unreadable]);
  useEffect(() => {
    setEdit({ args, misfits, isChanged: changesOf(original, args).length > 0 });
  }, [args, misfits, original, setEdit]);
  const setReadable = useCallback((path: string, isReadable: boolean) => {
    setUnreadable((before) => [...before.filter((one) => one !== path), ...(isReadable ? [] : [path])]);
  }, []);
  return useMemo(
    () => ({ misfits: [...misfits, ...serverMisfits(problem)], isGuessed: schemaOf(request) === null, setReadable }),
    [misfits, problem, request, setReadable],
  );
}

function Ways({ isRaw, onRaw }: { isRaw: boolean; onRaw: (isRaw: boolean) => void }) {
  const t = useTranslations("request.edit");
  return (
    <fieldset className={styles.ways}>
      <legend className="only-read-aloud">{t("as")}</legend>
      {[false, true].map((one) => (
        <button
          key={String(one)}
          type="button"
          className={styles.way}
          aria-pressed={one === isRaw}
          onClick={() => onRaw(one)}
        >
          {one ? t("json") : t("form")}
        </button>
      ))}
    </fieldset>
  );
}
