import type { InboxRequest } from "interlock-client/inbox";
import { useTranslations } from "use-intl";
import { Button } from "@/design/button";
import type { Obstacle } from "../model/obstacle";
import { useReview } from "../review";
import { useActions } from "../use-actions";
import styles from "./bar.module.css";
import { LinesLeft } from "./lines-left";

/** Several requests may stand on one page. */
export function obstacleId(request: Pick<InboxRequest, "request_id">): string {
  return `obstacle-${request.request_id}`;
}

/** What a yes still waits for. */
export function ObstacleNote() {
  const t = useTranslations("request.bar");
  const { request, obstacle } = useReview();
  const { showNew } = useActions();
  if (!obstacle) return null;
  const isWrong = obstacle.type === "code" && obstacle.isWrong;
  return (
    <div className={styles.obstacle} data-obstacle={isWrong ? "wrong" : obstacle.type}>
      <span id={obstacleId(request)}>
        <Words obstacle={obstacle} />
      </span>
      {obstacle.type === "stale" && (
        <Button look="primary" onClick={showNew}>
          {t("showNew")}
        </Button>
      )}
    </div>
  );
}

function Words({ obstacle }: { obstacle: Obstacle }) {
  const t = useTranslations("request.bar.obstacle");
  switch (obstacle.type) {
    case "unread":
      // The lines that are counted are those of what was asked for.
      return obstacle.isEdited ? t("unread", { lines: 0 }) : <LinesLeft />;
    case "code":
      return t(obstacle.isWrong ? "wrongCode" : "code");
    default:
      return t(obstacle.type);
  }
}
