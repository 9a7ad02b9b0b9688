import type { Translated } from "@/i18n/messages";

export const en = {
  title: "Second opinion",
  ask: "Ask for a second opinion",
  again: "Ask again",
  asking: "Asking. You need not wait for it.",
  what: "A model is told what will run, and nothing that the agent says of it. It decides nothing.",
  by: "A model's words, by {name}. They may be wrong.",
  end: {
    failed: "There is no opinion: it could not be got. Nothing else has changed.",
    late: "There is no opinion: it took too long. Nothing else has changed.",
    too_long: "There is no opinion: the call is too long to be told whole.",
  },
};

export const zh: Translated<typeof en> = {
  title: "第二意见",
  ask: "征求第二意见",
  again: "再次征求",
  asking: "正在征求，不必等待。",
  what: "模型只会得知将要运行的内容，不会得知代理对它的说明。它不作任何决定。",
  by: "以下是模型的说法，来自 {name}，可能有误。",
  end: {
    failed: "没有得到意见：征求失败。其他一切不变。",
    late: "没有得到意见：耗时过长。其他一切不变。",
    too_long: "没有得到意见：调用过长，无法完整告知模型。",
  },
};
