/** Every text of the pages, in both languages: each room keeps its own, side by side. */
import * as answer from "@/answer/messages";
import * as chat from "@/chat/messages";
import * as figures from "@/figures/messages";
import * as history from "@/history/messages";
import * as inbox from "@/inbox/messages";
import * as login from "@/login/messages";
import * as request from "@/request/messages";
import * as settings from "@/settings/messages";
import * as shell from "@/shell/messages";
import * as text from "@/text/messages";

export const en = {
  answer: answer.en,
  chat: chat.en,
  figures: figures.en,
  history: history.en,
  inbox: inbox.en,
  login: login.en,
  request: request.en,
  settings: settings.en,
  shell: shell.en,
  text: text.en,
};

export const zh: Translated<typeof en> = {
  answer: answer.zh,
  chat: chat.zh,
  figures: figures.zh,
  history: history.zh,
  inbox: inbox.zh,
  login: login.zh,
  request: request.zh,
  settings: settings.zh,
  shell: shell.zh,
  text: text.zh,
};

/** The same names with other words: a text that is missing in one language does not compile. */
export type Translated<M> = { readonly [K in keyof M]: M[K] extends string ? string : Translated<M[K]> };
