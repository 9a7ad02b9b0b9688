import type { Translated } from "@/i18n/messages";
import * as bar from "./texts/bar";
import * as edit from "./texts/edit";
import * as explain from "./texts/explain";
import * as forms from "./texts/forms";
import * as head from "./texts/head";
import * as likeness from "./texts/likeness";
import * as opinion from "./texts/opinion";
import * as remember from "./texts/remember";
import * as run from "./texts/run";
import * as states from "./texts/states";
import * as team from "./texts/team";

export const en = {
  bar: bar.en,
  edit: edit.en,
  explain: explain.en,
  forms: forms.en,
  head: head.en,
  likeness: likeness.en,
  opinion: opinion.en,
  remember: remember.en,
  run: run.en,
  states: states.en,
  team: team.en,
};

export const zh: Translated<typeof en> = {
  bar: bar.zh,
  edit: edit.zh,
  explain: explain.zh,
  forms: forms.zh,
  head: head.zh,
  likeness: likeness.zh,
  opinion: opinion.zh,
  remember: remember.zh,
  run: run.zh,
  states: states.zh,
  team: team.zh,
};
