// Generated from the wire models by scripts/generate_types.py: change those, and run it again.
//
// Fields have the names of the wire. Moments are texts in ISO 8601.

export type Kind = "approval" | "clarification" | "decision" | "env_var" | "questions";

export type Risk = "low" | "medium" | "high" | "critical";

export type RequestStatus = "pending" | "answered" | "cancelled" | "expired";

export type Outcome = "approved" | "edited" | "refused" | "replied" | "answered" | "cancelled" | "expired";

export type ResultStatus = "elsewhere" | "waiting" | "running" | "success" | "failed" | "refused" | "went_on" | "run_failed" | "stopped";

export type ConversationState = "idle" | "running" | "waiting";

export interface SignIn {
  username: string;
  password: string;
}

export interface SignInOnce {
  token: string;
  /** For the first account of a server that has none. */
  username?: string | null;
  password?: string | null;
}

export interface SignedIn {
  username: string;
  user_id: string;
  role: string;
  reviews: string[];
}

export interface Present extends SignedIn {
  auth: "accounts" | "none";
  locale: "zh" | "en";
  /** Whether this server gives second opinions of calls. */
  second_opinion: boolean;
  server_time: string;
}

export interface Welcome {
  auth: "accounts" | "none";
  locale: "zh" | "en";
  has_accounts: boolean;
  registration: boolean;
  /** Whether people sign in with passwords. */
  passwords: boolean;
  /** The name of the provider of single sign-on. */
  sign_on?: string | null;
  server_time: string;
}

export interface SignedOut {
  ended: boolean;
  /** After single sign-on: where the browser goes to sign out of the provider too. */
  url?: string | null;
}

export interface InboxEntry {
  request_id: string;
  kind: Kind;
  conversation_id: string;
  conversation_title: string;
  owner: string;
  agent: string;
  /** The agent runs elsewhere, and is the owner's. */
  outside: boolean;
  tool: string | null;
  display_name: string | null;
  headline: string;
  risk: Risk | null;
  created_at: string;
  expires_at: string | null;
  pause_id: string;
  position: number;
  in_pause: number;
  batchable: boolean;
  looking: string[];
  /** Null: whoever may answer on the conversation may. */
  people?: People | null;
}

export interface Inbox {
  requests: InboxEntry[];
  /** Counted up to 10000. */
  total: number;
  next_cursor: string | null;
  server_time: string;
}

export interface Change {
  path: string;
  /** write: the whole file, which may exist. Of a notebook one cell. */
  act: "edit" | "write" | "add" | "delete" | "replace_cell" | "insert_cell" | "delete_cell";
  /** Of an edit: the text that is replaced. */
  before: string;
  after: string;
  /** Where in the file, in the words of a patch; the cell of a notebook. */
  at: string;
  moved_to: string | null;
  /** Every occurrence is replaced, and not only one. */
  everywhere: boolean;
}

export interface Presentation {
  /** The arguments that it stands for. */
  shows: string[];
  changes: Change[];
  markdown: string;
}

export interface View {
  type: "command" | "file" | "json" | "none";
  /** What will run, complete. */
  lines: string[];
  /** The arguments beside a command. */
  rest: string[];
  /** What else the graph handed over with its interrupt, as JSON. */
  details: string[];
  /** A call of a coding agent as what it is: changes of files, or a text in Markdown. */
  presentation?: Presentation | null;
}

export interface File {
  path: string;
  exists: boolean;
  text: string | null;
  sha256: string;
  modified_at: string | null;
  after: string | null;
}

export interface Result {
  status: ResultStatus;
  /** What the call gave, or why the run failed. */
  output: string;
}

/** What its person is told of a drill: a request that was made up to be refused. */
export interface Drill {
  /** Whether it was refused, or not answered. */
  caught: boolean;
  /** What the call would have done. */
  text: string;
}

export interface InboxRequest extends InboxEntry {
  status: RequestStatus;
  /** Asked by the server itself: nobody knows how far a tool came. */
  in_doubt: boolean;
  body: Record<string, unknown>;
  view: View;
  digest: string;
  /** What a risky answer has to repeat, other digits for each request; null where no answer is risky. */
  code: string | null;
  args_schema: Record<string, unknown> | null;
  file: File | null;
  /** What the agent said when it made the call. */
  said?: string | null;
  /** Whose words the description is: the tool's own, or those of who asks. */
  described_by: "tool" | "agent";
  allowed: string[];
  allow_remember: boolean;
  siblings: string[];
  at_deadline: "default" | "told";
  default: string | null;
  timeout_seconds: number | null;
  extendable: boolean;
  response: Record<string, unknown> | null;
  answered_by: string | null;
  answered_at: string | null;
  source: string | null;
  /** Why it was not answered, where somebody said so. */
  reason: string | null;
  provenance: Record<string, unknown> | null;
  /** Who put it to others last; levels apart. */
  passed_on?: PassedOn | null;
  /** What came of a yes; null where none was given. */
  result: Result | null;
  /** Of a drill, once it is answered; null for every request. */
  drill?: Drill | null;
  server_time: string;
}

export interface Difference {
  name: string;
  change: "added" | "removed" | "changed";
  /** The value of the argument then, spelled as JSON; none where it is added. */
  before: string[];
}

export interface ApprovedCall {
  request_id: string;
  by: string;
  at: string;
  /** What this call has besides, has no longer, or has with another value than was approved then. */
  differences: Difference[];
}

/** Calls of the same tool, by the same definition, of one owner's agent. */
export interface Similar {
  /** How many were decided before, by whomever; the last 500 are counted. */
  earlier: number;
  /** How many of those people approved, as they stood or edited. */
  approved: number;
  /** Whether no earlier ones were left out. */
  whole: boolean;
  /** The last one that a person approved. */
  last: ApprovedCall | null;
  /** Whether the caller can have a rule drafted for such calls. */
  may_be_ruled: boolean;
}

/** What a model says of a call, for who asked for it. It decides nothing. */
export interface Opinion {
  request_id: string;
  /** Who gives opinions on this server, as its operator named it. */
  by: string;
  /** `too_long`: the call cannot be told whole. But for `given`, nothing was said. */
  end: "given" | "failed" | "late" | "too_long";
  /** A model's words: they may be wrong, and hold any characters. */
  text: string | null;
}

/** The active policy with a rule at its end; nothing of it is saved. */
export interface PolicyDraft {
  name: string;
  /** The rule alone, as TOML. */
  rule: string;
  /** Arguments that may be anything: they were different each time. */
  free: string[];
  /** How many approved calls it was made from. */
  calls: number;
  /** The whole policy, for the calls that check, replay and save one. */
  text: string;
  /** The version that counts; null: none does. */
  active: number | null;
  /** Whether the rule would have allowed the request that it was asked for. */
  covers: boolean;
}

export interface Remember {
  duration: "session" | "forever";
  scope: "this_action" | "this_tool" | "all_tools";
  /** A yes covers calls of high risk too; else none riskier than this. Takes the code. */
  also_high_risk?: boolean;
  /** The same once more: without it the answer is refused. */
  confirm_high_risk?: boolean;
}

export interface Override {
  reason: string;
}

export interface Answer {
  /** By the kind of the request; see the reference. */
  value: Record<string, unknown>;
  /** Of what was shown. */
  digest: string;
  dwell_ms?: number | null;
  code?: string | null;
  file_sha256?: string | null;
  /** Answer although somebody else has it. */
  over_claim?: boolean;
  remember?: Remember | null;
  /** For admins, where the server has it on: answer alone what is put to others, and say why. */
  override?: Override | null;
}

export interface CancelRequest {
  reason?: string | null;
}

export interface Extend {
  seconds: number;
}

export interface Look {
  request_id: string;
}

export interface Looked {
  request_id: string;
}

export interface Settled {
  request_id: string;
  /** `pending`: counted, and more people have to say yes. */
  status: "answered" | "cancelled" | "pending";
  answered_at: string;
  /** Of what is still pending. */
  votes?: Votes | null;
  /** Where it was a drill, and no request. */
  drill?: Drill | null;
}

export interface Recalled {
  /** None: nothing was done under the key, and nothing will be. */
  settled: Settled | null;
}

export interface Conversation {
  conversation_id: string;
  title: string;
  agent: string;
  /** Its agent runs elsewhere: it asks, and cannot be talked to. */
  outside: boolean;
  state: ConversationState;
  message_count: number;
  created_at: string;
  updated_at: string;
}

export interface Conversations {
  conversations: Conversation[];
  total: number;
}

export interface StopConversation {
  reason?: string | null;
}

export interface ConversationStopped {
  conversation_id: string;
  /** False when there was nothing to stop. */
  stopped: boolean;
}

export interface HistoryEntry {
  request_id: string;
  kind: Kind;
  conversation_id: string;
  agent: string;
  tool: string | null;
  headline: string;
  outcome: Outcome;
  by: string | null;
  source: string | null;
  origin: string | null;
  at: string;
  dwell_ms: number | null;
  digest: string | null;
  /** Why it was not answered, where somebody said so. */
  reason?: string | null;
  /** The rule of the policy that decided. */
  rule?: string | null;
  /** Of that rule. */
  policy_version?: number | null;
}

export interface History {
  entries: HistoryEntry[];
  next_cursor: string | null;
}

export interface Tool {
  name: string;
  description: string;
  risk: Risk;
  args_schema: Record<string, unknown>;
}

export interface Agent {
  name: string;
  tools: Tool[];
}

export interface Agents {
  agents: Agent[];
}

export interface Needs {
  /** How many have to say yes. */
  people: number;
  /** `group:NAME` and `person:NAME`; none: whoever may answer here. */
  candidates: string[];
  /** Who asked does not count. */
  separate: boolean;
  /** A yes repeats the code. */
  code: boolean;
}

export interface Votes {
  yes: number;
  needed: number;
  refusals: number;
}

export interface Voter {
  by: string;
  yes: boolean;
  at: string;
}

export interface Claim {
  by: string;
  mine: boolean;
  until: string;
}

export interface Level {
  number: number;
  of: number;
}

export interface PolicyRule {
  version: number | null;
  rule: string;
}

/** Somebody put it to others. */
export interface PassedOn {
  by: string;
  /** `group:NAME` and `person:NAME`. */
  to: string[];
  note: string | null;
  at: string;
}

/** Where a request stands with its people, for the reader. */
export interface People {
  needs: Needs;
  /** Null where one person is enough. */
  votes: Votes | null;
  own_vote: "yes" | "no" | null;
  /** For those who have voted, and once it is settled. */
  voters: Voter[];
  claim: Claim | null;
  level: Level | null;
  policy: PolicyRule | null;
  may_answer: boolean;
  may_refuse: boolean;
  /** The reader asked for it, or has put it to others: their yes does not count. */
  excluded: boolean;
  /** The reader, an admin, may answer it alone all the same, with a reason. */
  may_override: boolean;
  /** Whether the reader may see the conversation too. */
  conversation: boolean;
}

export interface Claimed {
  request_id: string;
  until: string;
}

export interface Released {
  request_id: string;
}

export interface Delegate {
  to: string;
  note?: string;
}

export interface Route {
  from: string[];
  note?: string;
}

export interface Routed {
  request_id: string;
}

export interface NewComment {
  text: string;
}

export interface Comment {
  comment_id: string;
  by: string;
  text: string;
  at: string;
}

export interface Comments {
  comments: Comment[];
}

export interface VoteWithdrawn {
  request_id: string;
  votes: Votes;
}

export interface NewGroup {
  name: string;
  members?: string[];
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface GroupMembers {
  members: string[];
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface Group {
  name: string;
  source: "local" | "oidc";
  members: string[];
}

export interface Groups {
  groups: Group[];
}

export interface GroupRemoved {
  name: string;
}

export interface FoundPeople {
  /** Names, 20 at most. */
  people: string[];
}

export interface SetAway {
  from: string;
  until: string;
  /** Who is asked in their place. */
  to?: string | null;
  /** For an admin: somebody else. */
  person?: string | null;
  /** Only heeded by a server that runs without accounts. */
  user_id?: string | null;
}

export interface AwayTime {
  from: string;
  until: string;
  to: string | null;
}

export interface Away {
  /** Null: they are not, and will not be. */
  away: AwayTime | null;
}
