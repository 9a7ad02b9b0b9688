import type { Translated } from "@/i18n/messages";

export const en = {
  nav: { inbox: "Inbox", chat: "Chat", history: "History", settings: "Settings", more: "More", label: "Main" },
  risk: { low: "Low", medium: "Medium", high: "High", critical: "Critical" },
  kind: {
    approval: "Approval",
    clarification: "Question",
    decision: "Decision",
    env_var: "Values",
    questions: "Questions",
  },
  loading: "Loading…",
  notFound: "There is no such page.",
  failed: "This could not be loaded: {message}",
  retry: "Try again",
};

export const zh: Translated<typeof en> = {
  nav: { inbox: "收件箱", chat: "对话", history: "历史", settings: "设置", more: "更多", label: "主导航" },
  risk: { low: "低", medium: "中", high: "高", critical: "极高" },
  kind: { approval: "审批", clarification: "提问", decision: "决策", env_var: "变量", questions: "多个问题" },
  loading: "正在加载…",
  notFound: "没有这个页面。",
  failed: "无法加载：{message}",
  retry: "重试",
};
