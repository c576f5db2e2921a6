import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Paint } from "../ui/ui.ts";

const event = open({
  stage: v.optional(v.nullable(v.string())),
  task: v.optional(v.nullable(v.string())),
  state: v.optional(v.nullable(v.string())),
  message: v.optional(v.nullable(v.string())),
});

/** The stage under which our Director tells its plan, a line each. */
const PLAN = "Planned, not done";

/** What an event of a dry run says: a line of the plan without its frame, or what another Director tells instead. */
export function planText(line: string, paint: Pick<Paint, "bold">): string | undefined {
  const read = v.safeParse(event, parsed(line));
  if (!read.success) return undefined;
  const { stage, task, state, message } = read.output;
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
