import { createContext, useContext } from "react";
import type { Misfit } from "./misfits";

export interface Editing {
  misfits: Misfit[];
  /** Nobody said what the tool takes: what it requires is not known. */
  isGuessed: boolean;
  /** Whether what is written at a path is JSON. */
  setReadable(path: string, isReadable: boolean): void;
}

export const EditContext = createContext<Editing>({ misfits: [], isGuessed: false, setReadable: () => {} });

export function useMisfit(path: string): Misfit | undefined {
  return useContext(EditContext).misfits.find((one) => one.path === path);
}

export function useEditing(): Editing {
  return useContext(EditContext);
}
