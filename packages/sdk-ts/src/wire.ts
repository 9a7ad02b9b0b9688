// Generated from the wire models by scripts/generate_types.py: change those, and run it again.
//
// Fields have the names of the wire. Moments are texts in ISO 8601.

export type ThreadState = "idle" | "interrupted";

export type RequestKind = "approval" | "clarification" | "decision" | "env_var" | "questions";

export type RequestType = "clarification" | "decision" | "env_var" | "permission";

export type RequestStatus = "pending" | "answered" | "cancelled" | "expired";

export type Risk = "low" | "medium" | "high" | "critical";

export type ResponseType = "accept" | "reject" | "edit" | "response";

export type ResponseStatus = "interrupted" | "completed" | "error";

export type SessionState = "not_found" | "idle" | "running" | "interrupted" | "completed" | "error";

export type KeyRole = "person" | "agent";

export type PersonRole = "owner" | "reviewer" | "admin";

export type Ruling = "allow" | "deny" | "ask";

export type Because = "rule" | "no_rule" | "not_evaluated" | "wants_person" | "no_policy" | "not_judged";

export type WebhookEvent = "request.asked" | "request.expiring" | "request.settled" | "request.voted" | "request.routed";

export type DeliveryStatus = "waiting" | "delivered" | "failed";

export type AnswerOutcome = "settled" | "counted" | "asked_again" | "late" | "unlinked" | "not_yours" | "not_eligible" | "claimed" | "changed" | "ended";

export type ChannelShows = "headline" | "full";

export type ChannelCeiling = "low" | "medium";

export type FieldType = "text" | "number" | "choice" | "list" | "secret";

export type LinkedBy = "code" | "message" | "browser";

/** What a client sends. */
export const UserEvents = {
  MESSAGE: "user.message",
  RESPONSE: "user.response",
  CANCEL: "user.cancel",
  CREATE_SESSION: "user.create_session",
  RECONNECT: "user.reconnect",
} as const;
export type UserEvents = (typeof UserEvents)[keyof typeof UserEvents];

/** What the server tells of a session. */
export const AgentEvents = {
  THINKING: "agent.thinking",
  TOOL_CALL: "agent.tool_call",
  TOOL_RESULT: "agent.tool_result",
  PARTIAL_ANSWER: "agent.partial_answer",
  FINAL_ANSWER: "agent.final_answer",
  USER_CONFIRM: "agent.user_confirm",
  ERROR: "agent.error",
  TIMEOUT: "agent.timeout",
  INTERRUPTED: "agent.interrupted",
  SESSION_CREATED: "agent.session_created",
  SESSION_END: "agent.session_end",
} as const;
export type AgentEvents = (typeof AgentEvents)[keyof typeof AgentEvents];

/** What the server tells of the connection. */
export const SystemEvents = {
  CONNECTED: "system.connected",
  ERROR: "system.error",
} as const;
export type SystemEvents = (typeof SystemEvents)[keyof typeof SystemEvents];

/** `metadata.error_type` of `agent.error` and `system.error`. */
export const ErrorTypes = {
  CONFIRMATION_TIMEOUT: "confirmation_timeout",
  INVALID_STEP_ID: "invalid_step_id",
  SESSION_NOT_FOUND: "session_not_found",
  INVALID_MESSAGE: "invalid_message",
  EMPTY_MESSAGE: "empty_message",
  BUSY: "busy",
  AGENT_FAILED: "agent_failed",
  NOT_ANSWERED: "not_answered",
  FORBIDDEN: "forbidden",
  NOT_ELIGIBLE: "not_eligible",
  RATE_LIMITED: "rate_limited",
  UNAVAILABLE: "unavailable",
  INTERNAL: "internal_error",
} as const;
export type ErrorTypes = (typeof ErrorTypes)[keyof typeof ErrorTypes];

export interface Credentials {
  username: string;
  password: string;
}

export interface Registered {
  message: string;
  user_id: string;
}

export interface AccessToken {
  access_token: string;
  token_type: "bearer";
}

export interface NewSession {
  /** The agent to talk to; the server's default one when left out. */
  agent?: string | null;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface Session {
  thread_id: string;
}

export interface SessionEntry {
  thread_id: string;
  title: string;
  created_at: string;
  message_count: number;
  status: ThreadState;
}

export interface SessionList {
  threads: SessionEntry[];
  total: number;
}

export interface Deleted {
  thread_id: string;
  deleted: boolean;
}

/** A message, or an input of the agent's own form; one of them. */
export interface ChatMessage {
  message?: string | null;
  /** What the agent's graph takes, in place of a message: its fields, as JSON. */
  input?: unknown;
  user_id?: string | null;
}

export interface Chat extends ChatMessage {
  thread_id?: string | null;
  agent?: string | null;
}

export interface Resume {
  /** continue, cancel or answer */
  action: string;
  /** With answer: one text for each question; for a free interrupt any JSON. */
  answers?: unknown[] | null;
  /** What is being replied to; a reply to anything else is then refused with 409. */
  request_id?: string | null;
  /** With cancel: what the agent is told. */
  reason?: string | null;
  user_id?: string | null;
}

export interface QuestionOption {
  label: string;
  value: string;
  allow_custom?: boolean | null;
}

export interface Question {
  question: string;
  options: QuestionOption[];
  name?: string | null;
  required?: boolean | null;
  sensitive?: boolean | null;
}

/** One thing that is asked, as this face shows it. */
export interface RequestView {
  request_id: string;
  kind: RequestKind;
  info: string;
  taskName: string;
  questions: Question[] | null;
  options?: QuestionOption[] | null;
  call_id?: string | null;
  created_at: string;
  expires_at: string | null;
  request_data: Record<string, unknown>;
}

export interface InterruptInfo {
  task_name: string;
  interrupts: string[];
  requests: RequestView[];
}

export interface ThreadStatus {
  thread_id: string;
  status: ThreadState;
  has_pending_tasks: boolean;
  interrupt_info?: InterruptInfo | null;
  message_count: number;
}

export interface Message {
  role: "user" | "assistant" | "tool" | "system";
  content: string;
}

export interface History {
  thread_id: string;
  messages: Message[];
}

/** An error. `detail` says what is wrong; a 409 adds the thread's state and what is pending on it. */
export interface Problem {
  detail: unknown;
  [name: string]: unknown;
}

export interface Health {
  status: string;
}

/** The envelope of every success. */
export interface Done<T> {
  success: true;
  data: T;
  message: string;
}

export interface Failure {
  /** Stable: `HITL_...`. */
  code: string;
  message: string;
  /** `alias` is the short name, `errors` names each wrong field. */
  details: Record<string, unknown>;
}

/** The envelope of every error. */
export interface Failed {
  success: false;
  error: Failure;
}

export interface Respond {
  request_id: string;
  /** By the request's type; unknown fields are refused. */
  response: Record<string, unknown>;
  /** About the sender; it goes to the audit trail. */
  metadata?: Record<string, unknown>;
  /** `false`: refuse it with `CLAIMED` where somebody else has said that they have it. */
  over_claim?: boolean | null;
}

export interface Cancel {
  request_id: string;
  reason?: string | null;
}

export interface Extend {
  seconds: number;
}

/** What an asker wants of people: it may be more than a policy says, and is never less. */
export interface AskNeeds {
  people?: number;
  /** `group:NAME` and `person:NAME`; none: who may answer here. */
  from?: string[];
  /** Who asked is no candidate; left out: so where several people are needed. */
  separate?: boolean | null;
}

export interface NewRequest {
  type: RequestType;
  /** By the type: what its `..._asked` event shows as `data`. */
  request_data: Record<string, unknown>;
  /** A new one is begun when left out. */
  conversation_id?: string | null;
  /** The asker's own name for a conversation: the first ask under it begins one. */
  conversation_key?: string | null;
  /** Of a conversation that this ask begins; made of what is asked when left out. */
  title?: string | null;
  /** `null`: it waits for as long as it takes. */
  timeout_seconds?: number | null;
  /** The name that people see; a key of an agent has one of its own. */
  agent?: string | null;
  /** Whose yes it takes, beyond what a policy says. */
  needs?: AskNeeds | null;
}

export interface VoteCount {
  yes: number;
  needed: number;
}

export interface Answered {
  request_id: string;
  status: "answered" | "pending";
  answered_at: string;
  /** Of what more people have to say yes to. */
  votes?: VoteCount | null;
}

export interface Cancelled {
  request_id: string;
  status: "cancelled";
  cancelled_at: string;
}

export interface PendingRequest {
  request_id: string;
  type: RequestType;
  status: RequestStatus;
  conversation_id: string;
  message_id: string | null;
  agent: string;
  /** Whose conversation it is; an agent that runs elsewhere is theirs. */
  owner: string;
  created_at: string;
  expires_at: string | null;
  timeout_seconds: number | null;
  request_data: Record<string, unknown>;
}

export interface RequestNeeds {
  people: number;
  from: string[];
  separate: boolean;
  code: boolean;
}

export interface RequestClaim {
  by: string;
  until: string;
}

export interface RequestObject extends PendingRequest {
  /** Only of a request that a policy or its asker routed. */
  needs?: RequestNeeds | null;
  votes?: VoteCount | null;
  claim?: RequestClaim | null;
  level?: number | null;
  policy?: Record<string, unknown> | null;
  response: Record<string, unknown> | null;
  answered_at: string | null;
  answered_by: string | null;
  source: string | null;
}

export interface PendingOfConversation {
  pending_requests: PendingRequest[];
  total: number;
}

export interface PendingPage {
  pending_requests: PendingRequest[];
  /** Counted up to 10000. */
  total: number;
  next_cursor: string | null;
}

export interface CollectedValues {
  values: Record<string, string>;
}

export interface AgentRequest {
  user_id: string;
  query?: string | null;
  /** What the agent's graph takes, in place of a query: its fields, as JSON. */
  input?: unknown;
  /** Heeded when the session begins, and not again. */
  system_message?: string | null;
}

export interface InterruptResponse {
  user_id: string;
  session_id: string;
  response_type: ResponseType;
  /** For `edit` and `response`; `request_id` names what is meant where several requests are open. */
  args?: Record<string, unknown> | null;
}

export interface ActionRequest {
  /** The tool; for everything but approvals the type. */
  action: string;
  /** Of the tool; for everything but approvals what is asked. */
  args: Record<string, unknown>;
}

export interface InterruptConfig {
  allow_accept: boolean;
  allow_edit: boolean;
  allow_respond: boolean;
  allow_reject: boolean;
}

/** One thing that is asked. */
export interface InterruptRequest {
  request_id: string;
  interrupt_type: RequestKind;
  action_request: ActionRequest;
  config: InterruptConfig;
  description: string;
  request_data: Record<string, unknown>;
  created_at: number;
  expires_at: number | null;
}

/** A pause: its top fields are those of the first open request, `requests` are all of them. */
export interface InterruptData {
  request_id: string;
  interrupt_type: RequestKind;
  action_request: ActionRequest;
  config: InterruptConfig;
  description: string;
  requests: InterruptRequest[];
}

export interface ToolCall {
  id: string | null;
  name: string;
  args: Record<string, unknown>;
}

export interface ResultMessage {
  type: "human" | "ai" | "tool" | "system";
  role: "user" | "assistant" | "tool" | "system";
  content: string;
  tool_calls?: ToolCall[] | null;
}

export interface Result {
  messages: ResultMessage[];
  /** The last text of the agent. */
  output: string;
}

export interface AgentResponse {
  session_id: string;
  status: ResponseStatus;
  timestamp: number;
  /** With `error`. */
  message?: string | null;
  /** With `completed`. */
  result?: Result | null;
  /** With `interrupted`. */
  interrupt_data?: InterruptData | null;
}

export interface SessionStatusResponse {
  user_id: string;
  session_id?: string | null;
  status: SessionState;
  /** With `error`. */
  message?: string | null;
  last_query?: string | null;
  last_updated?: number | null;
  /** Null while the session runs. */
  last_response?: AgentResponse | null;
}

export interface SystemInfoResponse {
  sessions_count: number;
  active_users: string[];
}

export interface SessionDeleted {
  status: "success";
  message: string;
}

/** The envelope of everything that a client sends. */
export interface UserEvent {
  event: UserEvents;
  session_id?: string | null;
  step_id?: string | null;
  timestamp?: unknown;
  content?: unknown;
  metadata?: Record<string, unknown> | null;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

/** The `content` of `user.response`. */
export interface Confirmation {
  confirmed: boolean;
  reason?: string | null;
  user_id?: string | null;
  /** `args`: run the tool with these; `response`: the answer to what is not an approval. */
  metadata?: Record<string, unknown> | null;
}

/** The envelope of everything that the server says. */
export interface ServerEvent {
  event: string;
  session_id: string | null;
  step_id: string | null;
  /** ISO 8601, UTC, with `Z`. */
  timestamp: string;
  connection_id: string;
  /** The place in the session's log; a token repeats the last one. */
  seq: number;
  content: unknown;
  metadata: Record<string, unknown>;
}

export interface NewKey {
  name: string;
  role?: KeyRole;
  /** ISO 8601 with a zone; it never expires when left out. */
  expires_at?: string | null;
  /** For an agent's key: the name people see. Default: its name. */
  agent?: string | null;
}

export interface KeyEntry {
  id: string;
  name: string;
  role: KeyRole;
  agent: string | null;
  owner_id: string;
  created_at: string;
  expires_at: string | null;
  last_used_at: string | null;
  revoked_at: string | null;
}

export interface KeyMade {
  id: string;
  /** Shown here, and never again. */
  key: string;
  name: string;
  role: KeyRole;
  agent: string | null;
  expires_at: string | null;
}

export interface KeyList {
  keys: KeyEntry[];
}

export interface TicketMade {
  /** For `?ticket=` of one stream or socket, once. */
  ticket: string;
  expires_at: string;
}

export interface GrantEntry {
  id: string;
  agent: string;
  allow: boolean;
  scope: "this_action" | "this_tool" | "all_tools";
  duration: "session" | "forever";
  tool: string | null;
  conversation_id: string | null;
  owner_id: string;
  /** Whose conversations it stands for; who gave it may be somebody else. */
  owner: string;
  /** The highest risk that a yes covers; null for a no, which holds for every risk. */
  ceiling?: Risk | null;
  granted_by: string;
  request_id: string;
  created_at: string;
  uses: number;
  last_used_at: string | null;
}

export interface GrantList {
  grants: GrantEntry[];
}

export interface SavedEntry {
  id: string;
  agent: string;
  name: string;
  sensitive: boolean;
  owner_id: string;
  asker_id?: string | null;
  saved_by: string;
  request_id: string;
  created_at: string;
  updated_at: string;
}

export interface SavedList {
  secrets: SavedEntry[];
}

export interface Ended {
  id: string;
  ended: boolean;
}

export interface WeekFigures {
  /** Its Monday; weeks begin at midnight in UTC. */
  week: string;
  /** Of the person's own conversations and agents, ended in this week in any way. */
  asks: number;
  by_grant: number;
  by_rule: number;
  /** Cancelled, or ended by their deadline. */
  unanswered: number;
  /** That the person gave, in whosever conversation. */
  answers: number;
  /** How many of those answers were to approvals. */
  approvals: number;
  /** How many of those let the call run, as it stood or edited. */
  yes: number;
  /** Their median reading time; null where none is known. */
  dwell_ms: number | null;
  /** That the person answered; they are in no other figure. */
  drills: number;
  /** How many of those they did not approve. */
  drills_caught: number;
  /** Of what people answered, what a rule in shadow would have. */
  by_shadow: number;
  /** Of the person's votes, those against which it ended. */
  votes_contradicted: number;
}

export interface ReadingTime {
  /** Requests of at most so many characters; null: longer ones. */
  longest: number | null;
  answers: number;
  dwell_ms: number | null;
}

export interface PersonFigures {
  user_id: string;
  name: string;
  /** The oldest first. */
  weeks: WeekFigures[];
  /** Over all of these weeks, by the length of the request. */
  reading: ReadingTime[];
}

export interface Figures {
  /** The caller first; others for admins only. */
  people: PersonFigures[];
  /** Whether everything of these weeks was counted. */
  whole: boolean;
}

export interface ChangePassword {
  old_password: string;
  new_password: string;
}

export interface SignInEntry {
  id: string;
  signed_in_at: string;
  /** Right to the minute. */
  last_used_at: string;
  expires_at: string;
  /** null where it is not known. */
  how: "password" | "link" | "oidc" | null;
  /** Of an IPv6 address the network. */
  address: string | null;
  user_agent: string | null;
  /** Whether it is the one that this is asked with. */
  current: boolean;
}

export interface SignInList {
  /** The last used first; 200 at the most. */
  sessions: SignInEntry[];
  total: number;
}

export interface SessionsEnded {
  ended: number;
  /** What the caller goes on with; a browser has it as its cookie instead. */
  access_token?: string | null;
}

export interface BeginSignOn {
  /** The page to go to afterwards: a path of this server. */
  next?: string;
}

export interface SignOnPlace {
  /** Where the browser goes. */
  url: string;
}

export interface FinishSignOn {
  state: string;
  /** null where the provider sent none, because nobody signed in. */
  code?: string | null;
  iss?: string | null;
}

export interface SignedOn {
  next: string;
  /** An identity was linked, and nobody signed in. */
  linked: boolean;
  /** The provider sent no groups, because there are too many. */
  groups_left_out: boolean;
}

/** An account at the provider of single sign-on. */
export interface IdentityEntry {
  id: string;
  issuer: string;
  subject: string;
  /** What the provider calls the person; empty before they have signed in with it. */
  label: string;
  /** Of the last sign-in. */
  groups: string[];
  groups_left_out: boolean;
  linked_at: string;
  used_at: string | null;
}

export interface IdentityList {
  identities: IdentityEntry[];
  /** Whether the person can also sign in with a password. */
  has_password: boolean;
}

export interface NewIdentity {
  subject: string;
}

export interface PersonEntry {
  user_id: string;
  username: string;
  role: PersonRole;
  reviews: string[];
  created_at: string;
  allowed: boolean;
  deleted_at: string | null;
  /** With which they sign in by single sign-on. */
  identities: IdentityEntry[];
}

export interface PeopleList {
  people: PersonEntry[];
}

export interface NewRole {
  role: PersonRole;
  /** For a reviewer: the agents they answer for; OWNER/AGENT for one that runs elsewhere. */
  reviews?: string[];
}

export interface NewAccess {
  allowed: boolean;
}

export interface PersonDeleted {
  user_id: string;
  sessions: number;
  keys: number;
  grants: number;
  saved_values: number;
}

export interface AuditEntry {
  /** The thread; `server` for what belongs to none. */
  conversation_id: string;
  /** Its place in the thread's chain, from 1. */
  number: number;
  at: string;
  actor: string;
  action: string;
  data: unknown;
  /** Covers the entry and the one before. */
  hash: string;
}

export interface AuditPage {
  entries: AuditEntry[];
  next_cursor: string | null;
}

export interface PolicyText {
  /** The policy, as TOML or as JSON. */
  text: string;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface NewPolicyVersion extends PolicyText {
  /** Why, for whoever reads the history. */
  note?: string;
}

export interface PolicyChange {
  /** The version that counts now; null: none does. */
  expected?: number | null;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface PolicyShadowChange {
  /** The version in shadow now; null: none is. */
  expected?: number | null;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

/** What a rule may look at; what is left out has the value that is given here. */
export interface PolicyFacts {
  tool?: string;
  args?: Record<string, unknown>;
  agent?: string;
  risk?: Risk;
  kind?: RequestKind;
  owner?: string;
  owner_groups?: string[];
  outside?: boolean;
  face?: string;
  at?: string | null;
}

export interface PolicyTrial extends PolicyText {
  facts: PolicyFacts;
}

export interface PolicyReplay extends PolicyText {
  /** Only requests that were settled since then. */
  since?: string | null;
  /** How many requests to look at, the newest first. */
  limit?: number;
}

export interface PolicyProblem {
  message: string;
  /** Where the rule or test begins; null for JSON, and for the whole. */
  line: number | null;
  rule: string | null;
  /** It can be used all the same. */
  warning: boolean;
  /** Which of the policy's own tests fails, if that is the problem. */
  test?: number | null;
}

export interface PolicyCheck {
  rules: number;
  tests: number;
  usable: boolean;
  problems: PolicyProblem[];
}

export interface PolicyVersionEntry {
  version: number;
  by: string;
  note: string;
  engine: string;
  /** Of its text, as the audit trail has it. */
  digest: string;
  created_at: string;
}

export interface PolicyVersion extends PolicyVersionEntry {
  text: string;
}

export interface SavedPolicyVersion extends PolicyVersionEntry {
  /** Warnings; a policy with errors is not saved. */
  problems: PolicyProblem[];
}

export interface PolicyChanged {
  by: string;
  at: string;
}

export interface PolicyHistory {
  /** The version that counts; null: none does. */
  active: number | null;
  /** The version in shadow; null: none is. */
  shadow?: number | null;
  /** What evaluates conditions here; null: nothing does. */
  engine?: string | null;
  /** The last activation, or deactivation. */
  activated?: PolicyChanged | null;
  /** The last change of what is in shadow. */
  shadowed?: PolicyChanged | null;
  /** The newest first. */
  versions: PolicyVersionEntry[];
}

export interface ActivePolicy {
  active: number | null;
  by: string;
  at: string;
}

export interface PolicyShadow {
  shadow: number | null;
  by: string;
  at: string;
}

export interface RuleError {
  /** Its name; empty for the whole policy, and for everybody but admins. */
  rule: string;
  reason: string;
}

export interface RuleFact {
  /** Such as tool, or args.amount. */
  name: string;
  /** As JSON, cut off after 500 characters; null: there is none. */
  value: string | null;
}

export interface PolicyDecision {
  then: Ruling;
  /** The rule that decided; null: none did, so a person is asked. */
  rule: string | null;
  /** All rules that apply. */
  matches: string[];
  /** Rules that could not be evaluated: none of them allows. */
  errors: RuleError[];
  /** Why it comes to that. */
  because: Because;
  /** What these rules read. */
  facts: RuleFact[];
}

/** Other rules than the one that decided, and its condition, are for admins. */
export interface PolicyExplanation extends PolicyDecision {
  request_id: string;
  /** The version that counted when it was asked; null: none did. */
  version: number | null;
  /** Version and rule were written with the answer; else found by when it was asked. */
  recorded: boolean;
  /** Why, in the words of the rule that decided. */
  reason: string;
  /** Of the rule that decided; for admins. */
  condition: string | null;
  /** Whether other rules are named. */
  whole: boolean;
}

export interface ShadowSample {
  request_id: string;
  tool: string;
  agent: string;
  at: string;
  active_version: number | null;
  active_rule: string | null;
  rule: string | null;
  /** A rule of the version in shadow could not be evaluated. */
  failed: boolean;
}

export interface ShadowRow {
  /** What the version that counted said; ask where none did. */
  active: Ruling;
  shadow: Ruling;
  count: number;
  /** Of how many a rule could not be evaluated. */
  failed: number;
  /** The newest, where the two differ. */
  samples: ShadowSample[];
}

export interface ShadowReport {
  version: number;
  /** Whether it is in shadow now. */
  on: boolean;
  /** When the first of these requests was asked. */
  since: string | null;
  looked_at: number;
  differ: number;
  /** First what only the version in shadow allows, then where they differ. */
  rows: ShadowRow[];
}

export interface ReplaySample {
  request_id: string;
  tool: string;
  action: string;
  answered_by: string | null;
  settled_at: string | null;
  rule: string | null;
}

export interface ReplayRow {
  /** approved, edited, refused, replied, cancelled or expired. */
  happened: string;
  /** What the policy would have said. */
  then: Ruling;
  count: number;
  samples: ReplaySample[];
}

export interface ReplayReport {
  looked_at: number;
  /** Whether no older request was left out. */
  whole: boolean;
  asks_saved: number;
  asks_added: number;
  /** First what a person refused and the policy would allow. */
  rows: ReplayRow[];
  /** Why, and how many. */
  not_replayed: Record<string, number>;
  /** By rule, how often it could not be evaluated. */
  errors: Record<string, number>;
}

export interface NewWebhook {
  /** Its host must be one that the operator named. */
  url: string;
  /** Asked, expiring and settled when left out. */
  events?: WebhookEvent[] | null;
  /** Whose requests it is told of; everybody's when left out. */
  agents?: string[] | null;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface Webhook {
  id: string;
  url: string;
  events: WebhookEvent[];
  agents: string[];
  created_at: string;
}

export interface CreatedWebhook extends Webhook {
  /** What deliveries are signed with; it is shown only here. */
  secret: string;
}

export interface WebhookEntry extends Webhook {
  created_by: string;
}

export interface WebhookList {
  webhooks: WebhookEntry[];
}

export interface RemovedWebhook {
  id: string;
  removed: boolean;
}

export interface Delivery {
  id: string;
  webhook_id: string;
  event: WebhookEvent;
  request_id: string;
  conversation_id: string;
  status: DeliveryStatus;
  attempts: number;
  /** The status of the receiver's last response, if there was one. */
  last_status: number | null;
  last_error: string | null;
  next_attempt_at: string | null;
  created_at: string;
  delivered_at: string | null;
}

export interface DeliveryList {
  deliveries: Delivery[];
  next_cursor: string | null;
}

export interface NewChannel {
  /** Such as `mail`. */
  kind: string;
  name?: string;
  /** `headline`: no argument of a call leaves the server. */
  shows?: ChannelShows;
  /** The highest risk that may be approved on it. */
  ceiling?: ChannelCeiling;
  settings: Record<string, unknown>;
  /** They are sealed. */
  credentials?: Record<string, string>;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface Channel {
  id: string;
  kind: string;
  name: string;
  shows: ChannelShows;
  ceiling: ChannelCeiling;
  settings: Record<string, unknown>;
  created_at: string;
}

export interface ChannelEntry extends Channel {
  created_by: string;
  /** Notices that are still to be sent. */
  waiting: number;
  /** Notices that were given up. */
  failed: number;
}

export interface ChannelList {
  channels: ChannelEntry[];
}

export interface RemovedChannel {
  id: string;
  removed: boolean;
}

export interface TestChannel {
  address: string;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface TestSent {
  id: string;
  sent: boolean;
}

export interface FailedNotice {
  id: string;
  request_id: string;
  attempts: number;
  last_error: string | null;
  created_at: string;
}

export interface FailedNotices {
  notices: FailedNotice[];
}

export interface SettingField {
  name: string;
  /** `secret`: it goes into `credentials`, and anything else into `settings`. */
  type: FieldType;
  required: boolean;
  /** Of a choice. */
  options: string[];
  default: string;
}

export interface ChannelKind {
  kind: string;
  fields: SettingField[];
  /** False: its fields are not described, and it is set up by command. */
  has_form: boolean;
  linked_by: LinkedBy;
  /** Whether requests can be answered on it. */
  answers: boolean;
}

export interface ChannelKinds {
  kinds: ChannelKind[];
}

export interface LinkedAddress {
  id: string;
  /** Of a browser: the host of its push service. */
  address: string;
  linked_at: string;
  /** False once the channel's vendor says that there is no such address. */
  works: boolean;
}

export interface OwnChannel {
  channel_id: string;
  kind: string;
  name: string;
  /** Null: the caller is not reached on it. */
  address: LinkedAddress | null;
  /** Of browsers there may be several. */
  addresses: LinkedAddress[];
  /** A code that comes to the address, a message from it, or the browser. */
  linked_by: LinkedBy;
  /** With which a browser subscribes. */
  key: string | null;
}

export interface OwnAddresses {
  channels: OwnChannel[];
}

export interface LinkAddress {
  channel_id: string;
  /** Where the code is sent; empty for a chat, from which one sends it. */
  address?: string;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface BrowserKeys {
  p256dh: string;
  auth: string;
}

export interface LinkBrowser {
  channel_id: string;
  endpoint: string;
  keys: BrowserKeys;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface LinkBegun {
  channel_id: string;
  address: string;
  /** Until then the code links it. */
  expires_at: string;
  /** For a chat: its person sends it to the bot, which links the account it comes from. */
  code?: string | null;
}

export interface ConfirmAddress {
  channel_id: string;
  code: string;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface UnlinkedAddress {
  id: string;
}

export interface QuietTimes {
  start: string;
  end: string;
  zone?: string;
  /** What is risky is told at once all the same. */
  high_passes?: boolean;
}

export interface Quiet {
  start: string;
  end: string;
  zone: string;
  high_passes: boolean;
}

export interface SetNotifications {
  /** Ids of channels on which nothing is wanted. */
  off?: string[];
  /** What is asked then is told when they end. */
  quiet?: QuietTimes | null;
  /** Null: the server's. */
  language?: "en" | "zh" | null;
  /** Mails lead to a page that takes an answer without a sign-in, where the channel allows it. */
  answer_links?: boolean;
  /** Every so many minutes one message tells of all that has low risk; null: each at once. */
  digest?: number | null;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface Notifications {
  off: string[];
  quiet: Quiet | null;
  language: "en" | "zh" | null;
  answer_links: boolean;
  digest: number | null;
}

export interface OpenLink {
  link: string;
}

export interface TapOnPage {
  link: string;
  button: string;
}

export interface PageRow {
  label: string;
  value: string;
}

export interface PageButton {
  label: string;
  token: string;
  is_yes: boolean;
  is_no: boolean;
}

export interface PageMessage {
  title: string;
  rows: PageRow[];
  /** What would run, whole. */
  text: string | null;
  notes: string[];
  buttons: PageButton[];
  request_id: string;
}

export interface AnswerPage {
  /** `asked_again`: nothing has happened yet. */
  outcome: AnswerOutcome;
  text: string;
  /** What is to be shown now; null: what was shown before. */
  message: PageMessage | null;
}
