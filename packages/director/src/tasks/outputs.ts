import { type Clock, isoTime } from "@slipway/kernel/clock";
import type { ConversationLine } from "@slipway/protocol/director/conversation-line";
import { scrubUrls } from "@slipway/protocol/schema/scrub";
import type { TaskOutput } from "./output.ts";
import type { ClaimedTask } from "./queue.ts";
import type { RunWatch } from "./watch.ts";

/** Returns the first line of a run's logs, by which the id of a request leads to what was done for it. */
export const introduction = ({ lease, type, contextId }: ClaimedTask): string =>
  `task ${lease.taskId} (${type}), attempt ${lease.attempt}, on ${lease.owner}${contextId === "" ? "" : `, for request ${contextId}`}`;

/** Writes the output of a run's CPIs. The introduction comes first, once there is something. */
export function cpiOutput(output: TaskOutput, task: ClaimedTask): (text: string) => void {
  let introduced = task.contextId === "";
  return (text) => {
    if (!introduced) output.append("cpi", `${introduction(task)}\n`);
    introduced = true;
    output.append("cpi", scrubUrls(text));
  };
}

export const debugOutput =
  (output: TaskOutput, clock: Clock) =>
  (line: string): void =>
    output.append("debug", `${isoTime(clock)} ${scrubUrls(line)}\n`);

export const conversationOutput =
  (output: TaskOutput, watch: RunWatch) =>
  (line: ConversationLine): void => {
    output.append("conversation", `${scrubUrls(JSON.stringify(line))}\n`);
    // The whole run is seen as such.
    if (line.to !== "director") watch.call(line);
  };
