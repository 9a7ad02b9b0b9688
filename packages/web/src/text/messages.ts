import type { Translated } from "@/i18n/messages";

export const en = {
  written: "Written by the agent, not checked",
  said: "What the agent said, not checked",
  tool: "The tool’s own description",
  handedOver: "Passed on by the agent, not checked",
  blankLines: "{count, plural, one {# blank line} other {# blank lines}}",
  blanks: "{count, plural, one {# blank} other {# blanks}}",
  hidden: "hidden character {code}",
  plain: "Shown as plain text: rendered as Markdown, parts of it would not be visible.",
};

export const zh: Translated<typeof en> = {
  written: "智能体所写，未经核实",
  said: "智能体的话，未经核实",
  tool: "工具自带的说明",
  handedOver: "智能体提交的内容，未经核实",
  blankLines: "{count} 个空行",
  blanks: "{count} 个空格",
  hidden: "隐藏字符 {code}",
  plain: "以纯文本显示：按 Markdown 渲染会有部分内容不可见。",
};
