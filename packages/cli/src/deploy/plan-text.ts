import { taskEvent } from "@slipway/protocol/director/task-event";
import { matches } from "@slipway/protocol/schema/check";
import type { Paint } from "../ui/ui.ts";

/** The stage under which our Director tells its plan, a line each. */
const PLAN = "Planned, not done";

/** What an event of a dry run says: a line of the plan without its frame, or what another Director tells instead. */
export function planText(line: string, paint: Pick<Paint, "bold">): string | undefined {
  const read = parsed(line);
  if (!matches(taskEvent, read)) return undefined;
  const { stage, task, state, message } = read;
  if (message) return message;
  if (!stage || !task || state !== "started") return undefined;
  if (stage !== PLAN) return `${stage}: ${task}`;
  return task.startsWith(" ") ? task : paint.bold(task);
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
