import type { Translated } from "@/i18n/messages";

export const en = {
  whyAsked: "Why was I asked?",
  whyThis: "What the policy said",
  loading: "Loading…",
  failed: "Could not load: {message}",
  rule: {
    allow: "Rule <rule></rule> of policy version {version} allows this.",
    deny: "Rule <rule></rule> of policy version {version} refuses this.",
    ask: "Rule <rule></rule> of policy version {version} wants a person to decide.",
  },
  wantsPerson: "Rule <rule></rule> of policy version {version} would allow this, but the agent asks for a person.",
  notEvaluated:
    "{count, plural, one {A rule of policy version {version} could not be evaluated. Where a rule fails, a person decides.} other {# rules of policy version {version} could not be evaluated. Where rules fail, a person decides.}}",
  noRule: "No rule of policy version {version} applies, so a person decides.",
  noPolicy: "No policy was active, so a person decides.",
  notJudged: "Policies do not apply to requests of this kind.",
  condition: "Condition:",
  missing: "not given",
  others: "Other rules that apply:",
  errors: "Rules that could not be evaluated:",
  byTime: "Found by the version that was active when this was asked.",
  forAdmins: "Admins also see the conditions and the other rules.",
};

export const zh: Translated<typeof en> = {
  whyAsked: "为什么询问我？",
  whyThis: "策略的判断",
  loading: "正在加载…",
  failed: "无法加载：{message}",
  rule: {
    allow: "策略第 {version} 版的规则 <rule></rule> 允许此操作。",
    deny: "策略第 {version} 版的规则 <rule></rule> 拒绝此操作。",
    ask: "策略第 {version} 版的规则 <rule></rule> 要求由人决定。",
  },
  wantsPerson: "策略第 {version} 版的规则 <rule></rule> 本会允许此操作，但智能体要求由人决定。",
  notEvaluated: "策略第 {version} 版有 {count} 条规则无法判断。规则无法判断时由人决定。",
  noRule: "策略第 {version} 版没有适用的规则，因此由人决定。",
  noPolicy: "当时没有启用策略，因此由人决定。",
  notJudged: "策略不适用于这类请求。",
  condition: "条件：",
  missing: "未提供",
  others: "其他适用的规则：",
  errors: "无法判断的规则：",
  byTime: "根据提出请求时启用的版本得出。",
  forAdmins: "管理员还能看到条件和其他规则。",
};
