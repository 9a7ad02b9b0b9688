import { type UseMutationOptions, useMutation } from "@tanstack/react-query";
import { useRef } from "react";

interface Options<Given, Got> extends UseMutationOptions<Got, Error, Given> {
  mutationFn: (given: Given) => Promise<Got>;
}

/**
 * Something that the server is to do once for each click that was meant. A button is off only with the next drawing: of
 * two clicks before that the second one gets what the first one gets, such as a key that else nobody would have seen.
 */
export function useAct<Got, Given = void>(options: Options<Given, Got>) {
  const underWay = useRef(new Map<string, Promise<Got>>());
  const act = (given: Given) => {
    // Things are told apart by their ids; of all else one is made at a time.
    const name = typeof given === "string" ? given : "";
    const begun = underWay.current.get(name);
    if (begun) return begun;
    const promise = options.mutationFn(given).finally(() => underWay.current.delete(name));
    underWay.current.set(name, promise);
    return promise;
  };
  return useMutation({ ...options, mutationFn: act });
}
