import { useTranslations } from "use-intl";
import { offered } from "../model/remember";
import { useReview } from "../review";
import { Remember, Sentence } from "./remember";
import styles from "./remember.module.css";

/** Folded, since few answers are kept; what is chosen is said all the same. */
export function FoldedRemember() {
  const t = useTranslations("request.remember");
  const { request, kept } = useReview();
  if (offered(request).length === 0) return null;
  return (
    <details className={styles.folded} data-remember>
      <summary>{t.rich("chosen", { sentence: () => <Sentence key="sentence" kept={kept} /> })}</summary>
      <Remember isTitled={false} />
    </details>
  );
}
