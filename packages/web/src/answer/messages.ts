import type { Translated } from "@/i18n/messages";

export const en = {
  opening: "Opening the request…",
  over: "This link is over",
  whole: "What will run, whole",
  toPage: "Sign in and open it in Interlock",
  failed: "That did not go through: {message}",
  again: "Try again",
};

export const zh: Translated<typeof en> = {
  opening: "正在打开请求…",
  over: "此链接已失效",
  whole: "将要执行的完整内容",
  toPage: "登录并在 Interlock 中打开",
  failed: "未能完成：{message}",
  again: "重试",
};
