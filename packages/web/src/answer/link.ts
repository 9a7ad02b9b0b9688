/** What the address of the page of an answer says. */
import type { AnswerPage } from "interlock-client/wire";
import { useRef } from "react";
import { callOnce, post } from "@/api/transport";
import { useAct } from "@/api/use-act";

const PATH = "/api/v1/answer-link";
const TOKEN = /^#([\w-]{1,64})$/;

let link: string | null = null;

/** The token, which is out of the address from then on: nobody finds it in the browser's history. */
export function takeLink(): string {
  const match = TOKEN.exec(location.hash);
  if (location.hash) history.replaceState(null, "", location.pathname);
  if (match) link = match[1] ?? null;
  return link ?? "";
}

/** Opening changes nothing, so that it may be done again; a button is pressed once. */
export function useAnswerLink(token: string) {
  const first = useRef<Promise<AnswerPage> | null>(null);
  return useAct({
    mutationFn: (button: string) => {
      if (button) return callOnce<AnswerPage>({ method: "POST", path: `${PATH}/tap`, body: { link: token, button } });
      first.current ??= post<AnswerPage>(PATH, { link: token }).finally(() => {
        first.current = null;
      });
      return first.current;
    },
  });
}
