import type { Translated } from "@/i18n/messages";

export const en = {
  written: "Written by the agent, not checked",
  handedOver: "Handed over by the agent, not checked",
  blankLines: "{count, plural, one {# blank line} other {# blank lines}}",
  blanks: "{count, plural, one {# blank} other {# blanks}}",
  hidden: "hidden character {code}",
};

export const zh: Translated<typeof en> = {
  written: "智能体所写，未经核实",
  handedOver: "智能体提交的内容，未经核实",
  blankLines: "{count} 个空行",
  blanks: "{count} 个空格",
  hidden: "隐藏字符 {code}",
};
