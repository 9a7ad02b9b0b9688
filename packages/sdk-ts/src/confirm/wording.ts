/** What confirmation handlers say to their person. */

const TEXTS = {
  title: { zh: "确认工具执行", en: "Confirm a tool" },
  asked: { zh: "Agent 提问", en: "The agent asks" },
  message: { zh: "操作", en: "What" },
  tool: { zh: "工具", en: "Tool" },
  description: { zh: "描述", en: "Description" },
  risk: { zh: "风险", en: "Risk" },
  arguments: { zh: "查看参数", en: "Arguments" },
  typeName: { zh: "高风险操作: 输入工具名 {name} 以确认", en: "High risk: type the tool's name, {name}, to run it" },
  run: { zh: "确认执行", en: "Run it" },
  cancel: { zh: "取消", en: "Cancel" },
  send: { zh: "提交", en: "Send" },
  choose: { zh: "请选择", en: "Choose" },
  ownWords: { zh: "自定义", en: "In your own words" },
  required: { zh: "请填写所有必填项", en: "Fill in everything that is required" },
  confirmed: { zh: "用户确认执行", en: "Confirmed by the user" },
  refused: { zh: "用户取消操作", en: "Cancelled by the user" },
  timedOut: { zh: "确认请求已超时 ({seconds}秒)", en: "The confirmation timed out ({seconds} s)" },
  sessionExpired: { zh: "会话已过期，请重新连接", en: "The session has expired; connect again" },
  connectionLost: { zh: "连接已断开: {detail}", en: "The connection is lost: {detail}" },
} as const;

export class Wording {
  private constructor(readonly language: "zh" | "en") {}

  static of(locale: string | undefined): Wording {
    return new Wording(!locale || locale.toLowerCase().startsWith("zh") ? "zh" : "en");
  }

  text(key: keyof typeof TEXTS, values: Readonly<Record<string, string>> = {}): string {
    return TEXTS[key][this.language].replace(/\{(\w+)\}/g, (whole, name: string) => values[name] ?? whole);
  }
}
