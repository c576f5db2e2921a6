import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import { negotiate } from "@slipway/protocol/negotiate";
import type { Paint } from "../ui/ui.ts";
import { wrapped } from "../ui/wrap.ts";
import { callText } from "./call-text.ts";
import { type Conversation, isCpi } from "./read.ts";
import { type TimeShares, timeSharesOf } from "./time-shares.ts";

export interface SequenceOptions {
  /** Name of the Director's only CPI, which has none in a conversation. */
  readonly cpi: string;
  readonly columns: number;
  readonly paint: Paint;
}

/** The conversation as a sequence for people. */
export function sequenceLines({ calls, runs }: Conversation, telling: SequenceOptions): readonly string[] {
  const began = runs[0]?.at ?? calls[0]?.at ?? 0;
  return calls.flatMap((call) => tellCall(call, began, telling));
}

/** Summarizes: whether a registry was involved, and where the time went. */
export const summaryLines = (conversation: Conversation): readonly string[] => [
  registrySentence(conversation),
  sharesText(timeSharesOf(conversation)),
  ...(conversation.unread === 0
    ? []
    : [`${conversation.unread} lines could not be read: the Director keeps so much of a task and no more.`]),
];

function tellCall(
  call: ConversationLine,
  began: number,
  { cpi, columns, paint }: SequenceOptions,
): readonly string[] {
  const { said, answered } = callText(call);
  const offset = `+${duration(call.at - began)}`.padEnd(9);
  const about = [versions(call), polls(call)].filter((part) => part !== "").join(", ");
  const took =
    call.error === undefined
      ? duration(call.ms)
      : absent(call)
        ? `not implemented, ${duration(call.ms)}`
        : `failed after ${duration(call.ms)}`;
  const head = `Director -> ${partner(call, cpi)}: ${paint.bold(call.message)}${about === "" ? "" : ` (${about})`} ... ${took}`;
  const details = [
    said,
    answered === "" ? "" : `-> ${answered}`,
    call.note === undefined ? "" : `note: ${call.note}`,
    call.error === undefined || absent(call) ? "" : paint.red(`-> ${call.error.replaceAll(/\s+/g, " ")}`),
  ].filter((detail) => detail !== "");
  return [
    ...wrapped(`${offset} ${head}`, columns, INDENT),
    ...details.flatMap((detail) => wrapped(`${INDENT}${detail}`, columns, `${INDENT}   `)),
  ];
}

/** True if the CPI has no such method. The Director goes on without it, or fails the task for it. */
const absent = (call: ConversationLine): boolean =>
  isCpi(call) && /\bNotImplemented\b/.test(call.error ?? "");

const INDENT = " ".repeat(10);

/** `CPI local`, `agent of db/6f1c2a3b`. */
export function partner({ to, instance }: Pick<ConversationLine, "to" | "instance">, cpi: string): string {
  const id = to.slice(to.indexOf(":") + 1);
  if (to.startsWith("cpi:")) return `CPI ${id === "" ? cpi : id}`.trimEnd();
  return instance === undefined ? `agent ${id.slice(0, SHORT)}` : `agent of ${shortSlug(instance)}`;
}

const SHORT = 8;

/** Shortens a UUID to its beginning. */
export const shortSlug = (slug: string): string => slug.replace(/\/([0-9a-f]{8})-[0-9a-f-]{27}$/, "/$1");

export function versions(call: ConversationLine): string {
  if (!isCpi(call) || call.api_version === undefined) return "";
  const { api_version: version, stemcell_api_version: stemcell } = call;
  return `v${version}${stemcell === undefined ? "" : `, stemcell v${stemcell}`}`;
}

const polls = ({ polls: times }: ConversationLine): string =>
  times === undefined || times < 2 ? "" : `asked ${times} times`;

export const duration = (ms: number): string =>
  ms < 9_999.5 ? `${Math.max(0, Math.round(ms))} ms` : `${(ms / 1000).toFixed(1)} s`;

export function sharesText({ total, cpi, agent, director }: TimeShares): string {
  const part = (ms: number) => `${duration(ms)} (${total === 0 ? 0 : Math.round((ms / total) * 100)} %)`;
  return `It took ${duration(total)}: CPI ${part(cpi)}, agents ${part(agent)}, Director ${part(director)}.`;
}

/** Calls that would use the registry in a mix that needs it. */
const USERS = ["create_vm", "attach_disk", "detach_disk", "delete_vm"];

const old = ({ api_version: version = 1, stemcell_api_version: stemcell = 1 }: ConversationLine): boolean =>
  version < 2 || stemcell < 2;

/** Says in a sentence whether a registry was involved. */
export function registrySentence({ calls }: Conversation): string {
  const about = calls.filter((call) => isCpi(call) && USERS.includes(call.message));
  if (about.length === 0) return "Nothing was asked of a CPI for which a registry could matter.";
  const through = about.filter((call) => call.registry === true || old(call));
  if (through.length === 0)
    return "No registry was involved: what the agents had to know went with create_vm and as disk hints.";
  const first = through.find(old);
  const names = [...new Set(through.map(({ message }) => message))].join(", ");
  return `A registry was involved, in ${names}${first === undefined ? "" : `: ${why(first)}`}.`;
}

function why({ api_version: version, stemcell_api_version: stemcell }: ConversationLine): string {
  const agreed = negotiate({ director: version, cpi: version, stemcell });
  return agreed.outcome === "agreed" ? agreed.reason : agreed.problems.join("; ");
}
