import type { ReactNode } from "react";
import { useTranslations } from "use-intl";
import { usePerson } from "@/api/session";
import { Revealed } from "@/text/revealed";

/** For the sentences of a grant: it stands for the owner's conversations, whoever gives it. */
export function useWhose(owner: string): () => ReactNode {
  const t = useTranslations("request.remember");
  const { username } = usePerson();
  if (owner === username) return () => t("mine");
  return () => t.rich("theirs", { owner: () => <Revealed key="owner" text={owner} /> });
}
