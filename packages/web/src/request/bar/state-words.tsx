import { useTranslations } from "use-intl";
import { useConnection } from "@/api/live-context";
import { usePerson } from "@/api/session";
import { useEndWords } from "../ended";
import { AgentText } from "../forms/agent-text";
import { outcomeOf } from "../model/outcome";
import { useMoment } from "../moment";
import { Name, namesIn } from "../names";
import { useReview } from "../review";

/** One or two sentences that say what happened, by whom, when and from where. */
export function StateWords() {
  const t = useTranslations("request.states");
  const moment = useMoment();
  const { since } = useConnection();
  const { situation, delivery, request } = useReview();
  switch (situation) {
    case "sending":
    case "unsure":
    case "deleted":
      return t(situation);
    case "offline":
      return t("offline", { time: moment(since) });
    case "receipt": {
      const at = delivery?.state === "done" ? delivery.settled.answered_at : null;
      const act = delivery?.act ?? "answer";
      return (
        <>
          {t.rich(`receipt.${act}`, { time: moment(at), ...namesIn(request) })}
          {(act === "accept" || act === "edit") && <Runs />}
        </>
      );
    }
    case "voted":
      return <Voted />;
    case "expired":
      return <Expired />;
    case "taken":
      return <Taken />;
    case "settled":
      return request.status === "expired" ? (
        <SettledExpired />
      ) : (
        <>
          <Ended />
          <Runs />
        </>
      );
    default:
      return null;
  }
}

/** What the votes came to with theirs. */
function Voted() {
  const t = useTranslations("request.team");
  const { delivery, request } = useReview();
  const told = delivery?.state === "done" ? delivery.settled.votes : null;
  const votes = told ?? request.people?.votes;
  const isNo = delivery?.act === "reject" || request.people?.own_vote === "no";
  return t(isNo ? "noIsIn" : "yesIsIn", { yes: votes?.yes ?? 1, needed: votes?.needed ?? 2 });
}

/** What came of a yes, as far as it has come. */
function Runs() {
  const t = useTranslations("request.states.runs");
  const { request } = useReview();
  return request.result && <> {t.rich(request.result.status, namesIn(request))}</>;
}

function Taken() {
  const t = useTranslations("request.states");
  const { delivery, request } = useReview();
  const { username } = usePerson();
  const isOwn = request.answered_by === username;
  const unused = delivery?.state === "late" ? "notUsed" : delivery?.state === "lost" ? "notArrived" : null;
  return (
    <>
      <Ended /> {t(unused ?? (isOwn ? "sentNothingHere" : "sentNothing"))}
      <Runs />
    </>
  );
}

/** Who ended it, and how. */
function Ended() {
  const { origin } = useReview().request.provenance ?? {};
  if (origin === "grant") return <Granted />;
  if (origin === "policy") return <Ruled />;
  return origin === "saved" ? <Saved /> : <Answered />;
}

function Answered() {
  return useEndWords()(useReview().request);
}

/** By an answer that was kept. */
function Granted() {
  const t = useTranslations("request.states.settled");
  const moment = useMoment();
  const { request } = useReview();
  const { granted_by: by, granted_at: since } = request.provenance ?? {};
  const how = outcomeOf(request) === "approved" ? "approved" : "refused";
  const given = { by: String(by ?? "?"), since: moment(typeof since === "string" ? since : null) };
  return t(how, { time: moment(request.answered_at), ...given });
}

/** By a rule of the policy. */
function Ruled() {
  const t = useTranslations("request.states.settled");
  const moment = useMoment();
  const { request } = useReview();
  const { rule, policy_version: version } = request.provenance ?? {};
  const how = outcomeOf(request) === "approved" ? "ruledApproved" : "ruledRefused";
  const named = { rule: () => <Name key="rule" text={String(rule ?? "?")} />, version: String(version ?? "?") };
  return t.rich(how, { time: moment(request.answered_at), ...named });
}

function Saved() {
  const t = useTranslations("request.states.settled");
  const moment = useMoment();
  return t("saved", { time: moment(useReview().request.answered_at) });
}

function Expired() {
  const t = useTranslations("request.states.expired");
  const moment = useMoment();
  const { request } = useReview();
  const time = moment(request.expires_at ?? request.answered_at);
  if (request.at_deadline === "told") return t(request.kind === "approval" ? "nothing" : "untold", { time });
  return t.rich("default", { time, default: () => <AgentText key="default" text={request.default ?? ""} /> });
}

function SettledExpired() {
  const t = useTranslations("request.states.settled");
  const moment = useMoment();
  const { request } = useReview();
  const time = moment(request.answered_at);
  if (request.at_deadline === "told") return t("expired", { time });
  return t.rich("expiredDefault", { time, default: () => <AgentText key="default" text={request.default ?? ""} /> });
}
