import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import { AndFromNowOn } from "../forms/remember";
import { mayAnswer, mayRefuse } from "../model/people";
import { isRisky } from "../model/remember";
import { namesIn } from "../names";
import { useReview } from "../review";
import { useActions } from "../use-actions";
import { useHints } from "../use-hints";
import styles from "./bar.module.css";
import { CodeField } from "./code-field";
import { ObstacleNote, obstacleId } from "./obstacle-note";
import { PeopleNote } from "./people-note";
import { Problem } from "./problem";
import { YesButton } from "./yes-button";

export function ApprovalBar() {
  const { mode, armedAt, request } = useReview();
  const isEdit = mode === "edit";
  return (
    <>
      <Problem />
      {armedAt !== null && <Armed />}
      {!isEdit && <AndFromNowOn />}
      <PeopleNote />
      {mayAnswer(request) && <ObstacleNote />}
      <div className={styles.row}>
        <CodeField />
        {isEdit ? <EditButtons /> : <Buttons />}
      </div>
    </>
  );
}

/** The first key arms: what a second one would do is said again. */
function Armed() {
  const t = useTranslations("request.bar");
  const { request } = useReview();
  const key = (text: React.ReactNode) => <kbd>{text}</kbd>;
  return (
    <p className={styles.armed} role="status">
      {t.rich("armed", { ...namesIn(request), key })}
    </p>
  );
}

function Buttons() {
  const t = useTranslations("request.bar");
  const { request, obstacle } = useReview();
  const { approve, open } = useActions();
  const hint = useHints();
  const may = (what: string) => request.allowed.includes(what);
  return (
    <>
      {may("accept") && (
        <YesButton
          isRisky={isRisky(request)}
          isOff={obstacle !== null}
          describedBy={obstacleId(request)}
          hint={hint("A")}
          onYes={approve}
        >
          {t("approve")}
        </YesButton>
      )}
      {mayRefuse(request) && (
        <Button data-act="refuse" hint={hint("R")} onClick={() => open("refuse")}>
          {t("refuse")}
        </Button>
      )}
      {may("edit") && (
        <Button data-act="edit" hint={hint("E")} onClick={() => open("edit")}>
          {t("edit")}
        </Button>
      )}
      {may("response") && (
        <Button data-act="reply" hint={hint("M")} onClick={() => open("reply")}>
          {t("reply")}
        </Button>
      )}
    </>
  );
}

function EditButtons() {
  const t = useTranslations("request.bar");
  const { request, obstacle } = useReview();
  const { approveEdit, discard } = useActions();
  return (
    <>
      <YesButton
        isRisky={isRisky(request)}
        isOff={obstacle !== null}
        describedBy={obstacleId(request)}
        onYes={approveEdit}
      >
        {t("approveEdited")}
      </YesButton>
      <Button onClick={discard}>{t("discard")}</Button>
    </>
  );
}
