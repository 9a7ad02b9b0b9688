/** Single sign-on: to the provider and back. The page itself hands over what came back. */
import { useQueryClient } from "@tanstack/react-query";
import type { FinishSignOn, SignedOn, SignOnPlace } from "interlock-client/wire";
import { SESSION } from "./session";
import { tellTabs } from "./tabs";
import { callOnce } from "./transport";
import { useAct } from "./use-act";

const BEGIN = "/api/v1/session/sign-on";

/** Leaves the page for the provider's. */
export function useBeginSignOn() {
  return useAct({
    mutationFn: (next: string) => callOnce<SignOnPlace>({ method: "POST", path: BEGIN, body: { next } }),
    onSuccess: leaveFor,
  });
}

export function useBeginLink() {
  return useAct({
    mutationFn: () => callOnce<SignOnPlace>({ method: "POST", path: "/api/v1/account/identities", body: {} }),
    onSuccess: leaveFor,
  });
}

export function useFinishSignOn() {
  const client = useQueryClient();
  return useAct({
    mutationFn: (body: FinishSignOn) =>
      callOnce<SignedOn>({ method: "POST", path: `${BEGIN}/finish`, body: { ...body } }),
    onSuccess: () => {
      tellTabs("came");
      return client.invalidateQueries({ queryKey: SESSION });
    },
  });
}

/** For an address of the provider's, which the server has checked. */
function leaveFor({ url }: SignOnPlace): void {
  location.assign(url);
}
