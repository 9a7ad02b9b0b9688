/** What a reviewer answers for: hosted agents by their name, others by their owner's and their own. */

export interface Chosen {
  /** Of those that are hosted here. */
  hosted: readonly string[];
  /** As typed, one a line. */
  elsewhere: string;
}

export function chosenOf(reviews: readonly string[], hosted: readonly string[]): Chosen {
  return {
    hosted: reviews.filter((one) => hosted.includes(one)),
    elsewhere: reviews.filter((one) => !hosted.includes(one)).join("\n"),
  };
}

export function reviewsOf({ hosted, elsewhere }: Chosen): string[] {
  const typed = elsewhere.split("\n").map((line) => line.trim());
  return [...new Set([...hosted, ...typed.filter(Boolean)])];
}
