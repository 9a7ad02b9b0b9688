import type { Translated } from "@/i18n/messages";

export const en = {
  title: "Remember",
  chosen: "Remember: <sentence></sentence>",
  once: "Only this time",
  note: "Asks again if the tool changes. Revoke in Settings.",
  noteRisk: "Calls of a higher risk are still asked about.",
  and: "And from now on: <sentence></sentence>",
  mine: "my",
  theirs: "of <owner></owner>’s",
  alsoHigh: "<sentence></sentence>, also for high-risk calls",
  high: {
    choice: "Also for high-risk calls",
    title: "Let high-risk calls run without asking?",
    what: "High-risk calls that this covers will run, and nobody will be asked, until it is revoked. Critical calls are always asked about.",
    do: "Yes, also high-risk calls",
    leave: "No, ask about those",
  },
  allow: {
    this_action: {
      session: "Always allow exactly this <tool></tool> call in this conversation",
      forever: "Always allow exactly this <tool></tool> call in all <whose></whose> conversations until revoked",
    },
    this_tool: {
      session: "Always allow <tool></tool>, any arguments, in this conversation",
      forever: "Always allow <tool></tool>, any arguments, in all <whose></whose> conversations until revoked",
    },
    all_tools: {
      session: "Always allow every tool, any arguments, in this conversation",
      forever: "Always allow every tool, any arguments, in all <whose></whose> conversations until revoked",
    },
  },
  refuse: {
    this_action: {
      session: "Always refuse exactly this <tool></tool> call in this conversation",
      forever: "Always refuse exactly this <tool></tool> call in all <whose></whose> conversations until revoked",
    },
    this_tool: {
      session: "Always refuse <tool></tool>, any arguments, in this conversation",
      forever: "Always refuse <tool></tool>, any arguments, in all <whose></whose> conversations until revoked",
    },
    all_tools: {
      session: "Always refuse every tool, any arguments, in this conversation",
      forever: "Always refuse every tool, any arguments, in all <whose></whose> conversations until revoked",
    },
  },
};

export const zh: Translated<typeof en> = {
  title: "记住",
  chosen: "记住：<sentence></sentence>",
  once: "仅限这一次",
  note: "工具变更后会再次询问，可在设置中撤销。",
  noteRisk: "风险高于本次的调用仍会询问。",
  and: "并且今后：<sentence></sentence>",
  mine: "我",
  theirs: " <owner></owner> ",
  alsoHigh: "<sentence></sentence>，包括高风险调用",
  high: {
    choice: "高风险调用也包括在内",
    title: "让高风险调用不经询问直接运行？",
    what: "此授权涵盖的高风险调用将直接运行，不再询问任何人，直到撤销。极高风险的调用始终会询问。",
    do: "是，包括高风险调用",
    leave: "否，高风险调用仍要询问",
  },
  allow: {
    this_action: {
      session: "在本对话中始终允许完全相同的 <tool></tool> 调用",
      forever: "在<whose></whose>的所有对话中始终允许完全相同的 <tool></tool> 调用，直到撤销",
    },
    this_tool: {
      session: "在本对话中始终允许 <tool></tool>（任何参数）",
      forever: "在<whose></whose>的所有对话中始终允许 <tool></tool>（任何参数），直到撤销",
    },
    all_tools: {
      session: "在本对话中始终允许所有工具（任何参数）",
      forever: "在<whose></whose>的所有对话中始终允许所有工具（任何参数），直到撤销",
    },
  },
  refuse: {
    this_action: {
      session: "在本对话中始终拒绝完全相同的 <tool></tool> 调用",
      forever: "在<whose></whose>的所有对话中始终拒绝完全相同的 <tool></tool> 调用，直到撤销",
    },
    this_tool: {
      session: "在本对话中始终拒绝 <tool></tool>（任何参数）",
      forever: "在<whose></whose>的所有对话中始终拒绝 <tool></tool>（任何参数），直到撤销",
    },
    all_tools: {
      session: "在本对话中始终拒绝所有工具（任何参数）",
      forever: "在<whose></whose>的所有对话中始终拒绝所有工具（任何参数），直到撤销",
    },
  },
};
