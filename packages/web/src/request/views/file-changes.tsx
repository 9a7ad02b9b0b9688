import type { Change } from "interlock-client/inbox";
import { memo, useMemo } from "react";
import { useTranslations } from "use-intl";
import { Revealed } from "@/text/revealed";
import { difference } from "../model/diff";
import { DiffSections } from "./diff-view";
import styles from "./diff-view.module.css";

/** What a coding agent would change, place by place: the files are elsewhere, and only what the call names is known. */
export const FileChanges = memo(function FileChanges({ changes }: { changes: readonly Change[] }) {
  return changes.map((change, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: changes have no other name than their place
    <OneChange key={place} change={change} isSameFile={changes[place - 1]?.path === change.path} />
  ));
});

function OneChange({ change, isSameFile }: { change: Change; isSameFile: boolean }) {
  const t = useTranslations("request.run");
  const { path, act, before, after, at, moved_to, everywhere } = change;
  const found = useMemo(() => difference(before, after), [before, after]);
  return (
    <div className={styles.change} data-change={act}>
      <p className={styles.file}>
        {!isSameFile && <Path path={path} />}
        {act !== "delete" && act !== "delete_cell" && (
          <span>
            +{found.added} −{found.removed}
          </span>
        )}
        {act !== "edit" && <span>{t(`act.${act}`)}</span>}
        {everywhere && <span>{t("everywhere")}</span>}
        {moved_to !== null && (
          <span>
            {t("movedTo")} <Path path={moved_to} />
          </span>
        )}
        {at && (
          <span>
            {t(act === "insert_cell" ? "after" : "place")} <Places at={at} />
          </span>
        )}
      </p>
      {/* Of a place in a file nobody knows here on which line it is. */}
      <DiffSections sections={found.sections} isNumbered={act !== "edit"} />
    </div>
  );
}

/** A class, and a function in it. */
function Places({ at }: { at: string }) {
  return at.split("\n").map((one, place) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: places have no other name than their place
    <span key={place}>
      {place > 0 && " › "}
      <code>
        <Revealed text={one} />
      </code>
    </span>
  ));
}

/** The whole of it, the file's own name before its folder to the eye. */
function Path({ path }: { path: string }) {
  const end = Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1;
  return (
    <code className={styles.path}>
      <Revealed text={path.slice(0, end)} />
      <b>
        <Revealed text={path.slice(end)} />
      </b>
    </code>
  );
}
