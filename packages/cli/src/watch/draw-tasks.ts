import { barOf, type LinePart, lineOf, oneLine } from "../ui/parts.ts";
import { clockText, spanText } from "../ui/time-text.ts";
import type { Drawing } from "./draw-instances.ts";
import type { DirectorState, WatchedInstance, WatchedTask } from "./model.ts";

/** Matches an instance id, with or without the index after it that tasks write. */
const ID = /\/([0-9a-f-]{36})(?: \(\d{1,6}\))?/g;
const BAR = 10;
/** Below it, a task's progress stands on a line of its own. */
const NARROW = 100;

type Named = (text: string) => string;

/** Shortens names of instances as their list does: `web/1` in place of the id. */
function namerOf(instances: readonly WatchedInstance[]): Named {
  const indexes = new Map(instances.map(({ id, index }) => [id, index]));
  return (text) =>
    text.replace(ID, (whole, id: string) => {
      const index = indexes.get(id);
      return index === undefined ? whole : `/${index}`;
    });
}

export function taskLines(
  { tasks, instances }: Pick<DirectorState, "tasks" | "instances">,
  several: boolean,
  drawing: Drawing,
): readonly string[] {
  const named = namerOf(instances);
  return tasks.flatMap((task) => linesOf(task, several, named, drawing));
}

function linesOf(
  task: WatchedTask,
  several: boolean,
  named: Named,
  { columns, now, paint }: Drawing,
): readonly string[] {
  const { progress, state } = task;
  const [mark, colour] = markOf(task, paint);
  const whose = several && task.deployment !== "" ? `${oneLine(task.deployment)}: ` : "";
  const took =
    state === "queued" || task.began === undefined ? "" : ` ${spanText((task.ended ?? now) - task.began)}`;
  const head: LinePart[] = [
    [mark, colour],
    [` ${task.id} `, paint.bold],
    [`${whose}${oneLine(task.description)} `],
    [`${state}${took}`, colour],
  ];
  if (task.result !== "" && state !== "done")
    return [lineOf([...head, [` ${oneLine(task.result)}`, paint.red]], columns)];
  if (progress === undefined) return [lineOf(head, columns)];
  const where: LinePart[] = [
    ...(progress.total === 0 ? [] : [[barOf(progress.done, progress.total, BAR), paint.cyan] as const]),
    [progress.total === 0 ? "" : ` ${progress.done}/${progress.total} `],
    [named(oneLine(progress.stage))],
    [progress.steps.length === 0 ? "" : `: ${named(progress.steps.map(oneLine).join(", "))}`, paint.dim],
  ];
  if (columns < NARROW) return [lineOf(head, columns), lineOf([["    "], ...where], columns)];
  return [lineOf([...head, ["  "], ...where], columns)];
}

function markOf(
  { state }: WatchedTask,
  paint: Drawing["paint"],
): readonly [string, (text: string) => string] {
  if (state === "done") return ["✓", paint.green];
  if (state === "queued") return ["·", paint.dim];
  if (state === "processing") return ["▸", paint.cyan];
  return state === "cancelling" || state === "cancelled" ? ["▸", paint.yellow] : ["✗", paint.red];
}

export function eventLines(
  { events, instances }: Pick<DirectorState, "events" | "instances">,
  several: boolean,
  { columns, paint }: Drawing,
): readonly string[] {
  const named = namerOf(instances);
  return events.map((one) => {
    const whose = several && one.deployment !== "" ? `${oneLine(one.deployment)}: ` : "";
    const task = one.task === "" ? "" : ` (task ${oneLine(one.task)})`;
    const text: LinePart = one.failed ? [named(oneLine(one.text)), paint.red] : [named(oneLine(one.text))];
    const at = one.at === undefined ? "" : `${clockText(one.at)} `;
    return lineOf([["  "], [at, paint.dim], [whose], text, [task, paint.dim]], columns);
  });
}
