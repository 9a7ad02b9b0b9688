import { useSearch } from "wouter";
import { filtersOf, searchOf } from "./filters";

/** The way back to the list as it was narrowed. */
export function useInboxHref(): string {
  return `/inbox${searchOf(filtersOf(useSearch()))}`;
}
