import { useId, useMemo } from "react";
import { useTranslations } from "use-intl";
import { Heading, Region } from "@/design/outline";
import words from "@/text/agent-words.module.css";
import { argumentsOf } from "../model/json-lines";
import { useReview } from "../review";
import { ArgumentsView } from "./arguments-view";
import { Lines } from "./lines";

/** What else a graph handed over with its interrupt, to the last line and in the server's spelling. */
export function Details() {
  const t = useTranslations("text");
  const { details } = useReview().request.view;
  const given = useMemo(() => argumentsOf(details), [details]);
  const heading = useId();
  if (details.length === 0) return null;
  return (
    <Region className={words.words} aria-labelledby={heading} data-act="details">
      <Heading id={heading} className={words.heading}>
        {t("handedOver")}
      </Heading>
      {given.length > 0 ? <ArgumentsView given={given} /> : <Lines lines={details} />}
    </Region>
  );
}
