import type { Translated } from "@/i18n/messages";

export const en = {
  title: "Remember",
  once: "Only this time",
  note: "Asks again if the tool changes. Revoke in Settings.",
  and: "And from now on: <sentence></sentence>",
  allow: {
    this_action: {
      session: "Always allow exactly this <tool></tool> call in this conversation",
      forever: "Always allow exactly this <tool></tool> call in all my conversations until revoked",
    },
    this_tool: {
      session: "Always allow <tool></tool>, any arguments, in this conversation",
      forever: "Always allow <tool></tool>, any arguments, in all my conversations until revoked",
    },
    all_tools: {
      session: "Always allow every tool, any arguments, in this conversation",
      forever: "Always allow every tool, any arguments, in all my conversations until revoked",
    },
  },
  refuse: {
    this_action: {
      session: "Always refuse exactly this <tool></tool> call in this conversation",
      forever: "Always refuse exactly this <tool></tool> call in all my conversations until revoked",
    },
    this_tool: {
      session: "Always refuse <tool></tool>, any arguments, in this conversation",
      forever: "Always refuse <tool></tool>, any arguments, in all my conversations until revoked",
    },
    all_tools: {
      session: "Always refuse every tool, any arguments, in this conversation",
      forever: "Always refuse every tool, any arguments, in all my conversations until revoked",
    },
  },
};

export const zh: Translated<typeof en> = {
  title: "记住",
  once: "仅限这一次",
  note: "工具变更后会再次询问，可在设置中撤销。",
  and: "并且今后：<sentence></sentence>",
  allow: {
    this_action: {
      session: "在本对话中始终允许完全相同的 <tool></tool> 调用",
      forever: "在我的所有对话中始终允许完全相同的 <tool></tool> 调用，直到撤销",
    },
    this_tool: {
      session: "在本对话中始终允许 <tool></tool>（任何参数）",
      forever: "在我的所有对话中始终允许 <tool></tool>（任何参数），直到撤销",
    },
    all_tools: {
      session: "在本对话中始终允许所有工具（任何参数）",
      forever: "在我的所有对话中始终允许所有工具（任何参数），直到撤销",
    },
  },
  refuse: {
    this_action: {
      session: "在本对话中始终拒绝完全相同的 <tool></tool> 调用",
      forever: "在我的所有对话中始终拒绝完全相同的 <tool></tool> 调用，直到撤销",
    },
    this_tool: {
      session: "在本对话中始终拒绝 <tool></tool>（任何参数）",
      forever: "在我的所有对话中始终拒绝 <tool></tool>（任何参数），直到撤销",
    },
    all_tools: {
      session: "在本对话中始终拒绝所有工具（任何参数）",
      forever: "在我的所有对话中始终拒绝所有工具（任何参数），直到撤销",
    },
  },
};
