import type { Table } from "../ui/ui.ts";
import { callText } from "./call-text.ts";
import type { Conversation } from "./read.ts";
import { partner, versions } from "./sequence.ts";

/** The calls as rows, for `--json`: everything stands there in full. */
export const callsTable = ({ calls }: Conversation, task: number, cpi: string): Table => ({
  content: "calls",
  unpadded: true,
  header: {
    task: "Task",
    at: "At",
    ms: "Ms",
    to: "To",
    instance: "Instance",
    message: "Message",
    versions: "Versions",
    polls: "Polls",
    registry: "Registry",
    said: "Said",
    answered: "Answered",
    error: "Error",
    request: "Request",
    answer: "Answer",
  },
  rows: calls.map((call) => [
    String(task),
    new Date(call.at).toISOString(),
    String(call.ms),
    partner(call, cpi),
    call.instance ?? "",
    call.message,
    versions(call),
    call.polls === undefined ? "" : String(call.polls),
    call.registry === true ? "true" : "false",
    callText(call).said,
    callText(call).answered,
    call.error ?? "",
    JSON.stringify(call.request),
    call.answer === undefined ? "" : JSON.stringify(call.answer),
  ]),
});
