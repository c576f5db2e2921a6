import { bothEnds, type LinePart, lineOf, oneLine } from "../ui/parts.ts";
import { cut } from "../ui/text.ts";
import { clockText, spanText } from "../ui/time-text.ts";
import { countsOf, type Drawing, type List, LOW, listOf } from "./draw-instances.ts";
import { eventLines, taskLines } from "./draw-tasks.ts";
import type { DirectorState } from "./model.ts";

export interface Drawn {
  readonly lines: readonly string[];
  /** How far the list can be scrolled. */
  readonly most: number;
  /** How many lines of it there are to see at once. */
  readonly page: number;
}

/** Answers older than this are said to be old. */
const STALE_MS = 10_000;
const FEWEST_INSTANCES = 3;

/** A screen full: what is seen, in the room there is. */
export function draw(seen: DirectorState, drawing: Drawing): Drawn {
  const { columns, rows, paint } = drawing;
  const several = seen.deployment === undefined;
  const low = rows < LOW;
  const top = headOf(seen, drawing);
  const foot = rows >= 8 ? 1 : 0;
  const list = listOf(seen.instances, several, drawing);
  const tasks = taskLines(seen, several, drawing);
  const events = low ? [] : eventLines(seen, several, drawing);
  const room = Math.max(1, rows - top.length - foot);
  const share = shareOf({ room, low, list: list.lines.length, tasks: tasks.length, events: events.length });
  const window = windowOf(list, share.list, drawing);
  const titled = (title: string, lines: readonly string[]) =>
    low ? lines : ["", paint.bold(title), ...lines];
  const lines = [
    ...top,
    ...(low || seen.instances.length === 0 ? [] : ["", list.title]),
    ...window.lines,
    ...(share.tasks === 0 ? [] : titled("Tasks", cutTo(tasks, share.tasks, paint.dim))),
    ...(share.events === 0 ? [] : titled("Events", events.slice(0, share.events))),
  ].slice(0, rows - foot);
  const blank = Array.from({ length: Math.max(0, rows - foot - lines.length) }, () => "");
  const last = foot === 0 ? [] : [footOf(window.most > 0, drawing)];
  return {
    lines: [...lines, ...blank, ...last].map((line) => cut(line, columns)),
    most: window.most,
    page: share.list,
  };
}

function headOf(seen: DirectorState, drawing: Drawing): readonly string[] {
  const { columns, now, paint } = drawing;
  const { trouble, deployment } = seen;
  const name = deployment === undefined ? "all deployments" : oneLine(deployment);
  const old = now - seen.at > STALE_MS;
  const when: LinePart =
    trouble !== undefined
      ? [`no answer for ${spanText(now - trouble.since)}`, paint.red]
      : old
        ? [`as of ${spanText(now - seen.at)} ago`, paint.yellow]
        : [`${clockText(now)} UTC`, paint.dim];
  const head = bothEnds(
    [
      [name, paint.bold],
      [`  ${oneLine(seen.url)}`, paint.dim],
    ],
    [when],
    columns,
  );
  const summary =
    seen.instances.length === 0
      ? lineOf([[nothingOf(seen), paint.dim]], columns)
      : lineOf(countsOf(seen.instances, paint), columns);
  const notes = [
    ...(trouble === undefined
      ? []
      : [
          lineOf(
            [
              [
                `The Director does not answer: ${oneLine(trouble.why)}. Below: as of ${clockText(seen.at)}.`,
                paint.red,
              ],
            ],
            columns,
          ),
        ]),
    ...(seen.note === "" ? [] : [lineOf([[oneLine(seen.note), paint.yellow]], columns)]),
  ];
  return [head, summary.trimEnd(), ...notes];
}

function nothingOf({ deployment, deployments }: DirectorState): string {
  if (deployment === undefined) return deployments.length === 0 ? "there is no deployment" : "no instances";
  return deployments.length === 0 ? "it is not there any more; watching for it" : "no instances";
}

interface Wants {
  readonly room: number;
  readonly low: boolean;
  readonly list: number;
  readonly tasks: number;
  readonly events: number;
}

/** Divides the lines: a third for tasks, as many as needed for instances, the rest for events. */
function shareOf({ room, low, list, tasks, events }: Wants): Omit<Wants, "room" | "low"> {
  const extra = low ? 0 : 2;
  const listExtra = low || list === 0 ? 0 : 2;
  const forTasks = tasks === 0 ? 0 : Math.min(tasks, Math.max(low ? 1 : 2, Math.floor(room / 3)));
  let left = room - listExtra - (forTasks === 0 ? 0 : forTasks + extra);
  const leastEvents = events === 0 || room < LOW ? 0 : Math.min(events, room >= 36 ? 8 : 4);
  const forList = Math.max(
    Math.min(list, FEWEST_INSTANCES),
    Math.min(list, left - (leastEvents === 0 ? 0 : leastEvents + extra)),
  );
  left -= forList + extra;
  return { list: forList, tasks: forTasks, events: low ? 0 : Math.max(0, Math.min(events, left)) };
}

/** The part of the list that is to be seen, and what is above and below it. */
function windowOf({ lines }: List, height: number, { scroll, columns, paint, keys }: Drawing) {
  const most = Math.max(0, lines.length - height);
  const from = Math.min(most, Math.max(0, scroll));
  const shown = lines.slice(from, from + height).map(({ text }) => text());
  if (most === 0) return { lines: shown, most };
  const cutBy = (edge: "above" | "below", count: number) =>
    lineOf(
      [
        [
          `  ${edge === "above" ? "↑" : "↓"} and ${count} more${keys && edge === "below" ? " (↑ ↓ to scroll)" : ""}`,
          paint.dim,
        ],
      ],
      columns,
    );
  const firsts = (some: typeof lines) => some.filter(({ first }) => first).length;
  const above = firsts(lines.slice(0, from + 1));
  const below = firsts(lines.slice(from + height - 1));
  return {
    most,
    lines: shown.map((line, place) => {
      if (place === height - 1 && from < most && below > 0) return cutBy("below", below);
      return place === 0 && from > 0 && above > 0 ? cutBy("above", above) : line;
    }),
  };
}

function cutTo(lines: readonly string[], most: number, dim: (text: string) => string): readonly string[] {
  if (lines.length <= most) return lines;
  return [...lines.slice(0, most - 1), dim(`  and ${lines.length - most + 1} more lines`)];
}

function footOf(scrolls: boolean, { columns, paint, keys }: Drawing): string {
  const text = keys ? (scrolls ? "q quit   ↑ ↓ PgUp PgDn scroll" : "q quit") : "Ctrl-C quits";
  return lineOf([[text, paint.dim]], columns);
}
