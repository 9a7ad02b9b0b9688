import { parsed } from "interlock-client/json";
import { useEffect, useState } from "react";
import { useTranslations } from "use-intl";
import { lazyPart } from "@/shell/lazy-page";
import { Wrong } from "../forms/agent-text";
import { useEditing } from "./edit-context";

const JsonEditor = lazyPart(async () => (await import("./json-editor")).JsonEditor);

interface Props {
  name: string;
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
}

/** For what no form can say: the value as JSON. */
export function RawField({ name, path, value, onChange }: Props) {
  const t = useTranslations("request.edit");
  const { setReadable } = useEditing();
  const [first] = useState(() => JSON.stringify(value, null, 2) ?? "");
  const [isReadable, setOwnReadable] = useState(true);
  useEffect(() => () => setReadable(path, true), [path, setReadable]);
  const change = (text: string) => {
    const changed = parsed(text);
    const fits = changed !== undefined && (path !== "" || isArguments(changed));
    setOwnReadable(fits);
    setReadable(path, fits);
    if (fits) onChange(changed);
  };
  return (
    <>
      {/* What cannot be read is nowhere but here: what is drawn only near the screen stays drawn for it. */}
      <JsonEditor isUnfinished={!isReadable} label={t("rawLabel", { name })} text={first} onChange={change} />
      {/* Of an argument it stands with whatever else is wrong there. */}
      <Wrong>{path === "" && !isReadable && t("misfit.json")}</Wrong>
    </>
  );
}

/** A call takes an object and nothing else. */
function isArguments(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
