import { expect, test } from "vitest";
import { chosenOf, reviewsOf } from "@/settings/people/reviews";

test("hosted agents are ticked, all others are typed", () => {
  expect(chosenOf(["demo", "ann/mailer", "retired"], ["demo", "other"])).toEqual({
    hosted: ["demo"],
    elsewhere: "ann/mailer\nretired",
  });
});

test("what was typed is taken line by line, without blanks and without saying anything twice", () => {
  expect(reviewsOf({ hosted: ["demo"], elsewhere: " ann/mailer \n\n demo\nann/mailer" })).toEqual([
    "demo",
    "ann/mailer",
  ]);
});
