import type { Task } from "@slipway/protocol/director/task";
import { browser } from "../api/browser.ts";
import { durationText } from "../model/texts.ts";
import { Badge } from "../parts/panel.tsx";
import type { Column } from "../parts/table.tsx";
import { Moment } from "../parts/time.tsx";
import { hrefOf } from "./route.ts";

export const RUNNING = ["queued", "processing", "cancelling"];

const LEVELS: Readonly<Record<string, string>> = {
  queued: "quiet",
  processing: "busy",
  cancelling: "busy",
  cancelled: "quiet",
  done: "well",
  error: "bad",
  timeout: "bad",
};

export const TaskBadge = ({ state }: { readonly state: string }) => (
  <Badge level={LEVELS[state] ?? "quiet"} text={state === "processing" ? "running" : state} />
);

/** Milliseconds that a task took, or takes until now. */
export function tookOf({ state, started_at: began, timestamp: ended }: Task): number | undefined {
  if (began == null) return undefined;
  if (RUNNING.includes(state)) return Math.max(0, browser.now() - began * 1000);
  return ended == null ? undefined : Math.max(0, (ended - began) * 1000);
}

/** Times of tasks are whole seconds. */
export const secondsText = (ms: number): string => (ms < 1000 ? "under 1 s" : durationText(ms));

export const TASK_COLUMNS: readonly Column<Task>[] = [
  { name: "Task", cell: ({ id }) => <a href={hrefOf("tasks", id)}>{id}</a> },
  { name: "State", cell: ({ state }) => <TaskBadge state={state} /> },
  { name: "Description", cell: ({ description }) => description },
  {
    name: "Deployment",
    cell: ({ deployment }) =>
      deployment != null && <a href={hrefOf("deployments", deployment)}>{deployment}</a>,
  },
  { name: "User", cell: ({ user }) => user },
  {
    name: "Began",
    cell: ({ started_at: began }) => (began == null ? "" : <Moment at={began * 1000} />),
  },
  {
    name: "Took",
    cell: (task) => {
      const took = tookOf(task);
      return took === undefined ? "" : secondsText(took);
    },
  },
  { name: "Result", cell: ({ result }) => <span class="wrap">{result}</span> },
];
