import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type ConversationLine, conversationLine } from "@slipway/protocol/director/conversation-line";
import { check } from "@slipway/protocol/schema/check";

export interface Conversation {
  /** Calls to CPIs and agents, in the order in which they began. */
  readonly calls: readonly ConversationLine[];
  /** The runs of the task; more than one after the Director was interrupted, none while it goes on. */
  readonly runs: readonly ConversationLine[];
  /** Number of invalid lines: a Director cuts off what is too long, with a note. */
  readonly unread: number;
}

/** The `conversation` output of a task. */
export function readConversation(text: string): Conversation {
  const lines = text
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map(readLine);
  const known = lines.filter((line) => line !== undefined).sort((a, b) => a.at - b.at || a.ms - b.ms);
  return {
    calls: known.filter(({ to }) => to !== "director"),
    runs: known.filter(({ to }) => to === "director"),
    unread: lines.length - known.length,
  };
}

function readLine(line: string): ConversationLine | undefined {
  try {
    const checked = check(conversationLine, parseStrictJson(line, "a line"));
    return checked.ok ? checked.value : undefined;
  } catch {
    return undefined;
  }
}

export const isCpi = ({ to }: ConversationLine): boolean => to.startsWith("cpi:");

/** Questions that leave everything as it is. */
const QUESTIONS = new Set([
  "info",
  "ping",
  "get_state",
  "list_disk",
  "has_vm",
  "has_disk",
  "get_disks",
  "get_vm_log",
  "list_resources",
]);

export const changes = ({ calls }: Conversation): boolean =>
  calls.some(({ message }) => !QUESTIONS.has(message));
