import { type LinePart, lineOf, oneLine } from "../ui/parts.ts";
import { padded, widthOf } from "../ui/text.ts";
import { spanText } from "../ui/time-text.ts";
import type { Paint } from "../ui/ui.ts";
import { wrapped } from "../ui/wrap.ts";
import { type HealthLevel, LEVELS, nameOf, type WatchedInstance } from "./model.ts";

export interface Drawing {
  readonly columns: number;
  readonly rows: number;
  /** Milliseconds since 1970. */
  readonly now: number;
  readonly paint: Paint;
  /** How many lines of the list of instances are above the window. */
  readonly scroll: number;
  /** True if there is a keyboard. */
  readonly keys: boolean;
}

/** Windows with fewer lines have no titles, no gaps and no events. */
export const LOW = 16;

export const MARK: Readonly<Record<HealthLevel, string>> = { bad: "✗", busy: "◐", quiet: "○", well: "●" };

export const paintOf = (level: HealthLevel, paint: Paint): ((text: string) => string) =>
  ({ bad: paint.red, busy: paint.yellow, quiet: paint.dim, well: paint.green })[level];

interface Column {
  readonly title: string;
  readonly cell: (one: WatchedInstance) => string;
  /** Aligns numbers to the right. */
  readonly right?: boolean;
  readonly most?: number;
  /** The lower, the longer it stays when there is no room. */
  readonly need: number;
}

const percent = (value: number | undefined) => (value === undefined ? "" : `${Math.round(value)}%`);

const COLUMNS: readonly Column[] = [
  { title: "Deployment", cell: (one) => one.deployment, need: 1, most: 24 },
  { title: "Instance", cell: nameOf, need: 0, most: 40 },
  { title: "State", cell: (one) => one.state, need: 0, most: 18 },
  { title: "IPs", cell: ({ ips }) => ips.join(" "), need: 2, most: 40 },
  { title: "Proc", cell: running, need: 3, right: true },
  { title: "CPU", cell: ({ vitals }) => percent(vitals.cpu), need: 6, right: true },
  { title: "Mem", cell: ({ vitals }) => percent(vitals.memory), need: 4, right: true },
  { title: "Disk", cell: ({ vitals }) => percent(vitals.disk), need: 5, right: true },
  { title: "Load", cell: ({ vitals }) => vitals.load?.toFixed(2) ?? "", need: 9, right: true },
  { title: "AZ", cell: (one) => one.az, need: 8, most: 12 },
  { title: "VM", cell: (one) => one.vm, need: 7, most: 46 },
  { title: "Processes", cell: processes, need: 10, most: 60 },
];

function running({ processes: all }: WatchedInstance): string {
  return all.length === 0 ? "" : `${all.filter(({ state }) => state === "running").length}/${all.length}`;
}

function processes({ processes: all }: WatchedInstance): string {
  return all.map(({ name, state }) => (state === "running" ? name : `${name} (${state})`)).join(" ");
}

/** Problems first, then by name. */
export function inOrder(all: readonly WatchedInstance[]): readonly WatchedInstance[] {
  const rank = ({ level }: WatchedInstance) => (level === "bad" ? 0 : level === "busy" ? 1 : 2);
  return [...all].sort(
    (a, b) =>
      rank(a) - rank(b) ||
      order(a.deployment, b.deployment) ||
      order(a.group, b.group) ||
      a.index - b.index ||
      order(a.id, b.id),
  );
}

const order = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);

/** A line of the list. */
export interface ListLine {
  /** Made when it is to be seen: of thousands only a few are. */
  readonly text: () => string;
  /** True for the line of the instance itself; its problems follow below. */
  readonly first: boolean;
}

export interface List {
  readonly title: string;
  readonly lines: readonly ListLine[];
}

export function listOf(all: readonly WatchedInstance[], several: boolean, drawing: Drawing): List {
  const sorted = inOrder(all);
  const cells = new Map(COLUMNS.map((column) => [column, sorted.map((one) => oneLine(column.cell(one)))]));
  const chosen = chosenOf(cells, several, drawing.columns);
  const title = [
    "  ",
    ...chosen.map(({ column, width }) => `${aligned(column.title, width, column.right)}  `),
  ]
    .join("")
    .trimEnd();
  const lines = sorted.flatMap((one, place) => {
    const main = () => {
      const paint = paintOf(one.level, drawing.paint);
      const row = chosen.flatMap(({ column, width }): readonly LinePart[] => {
        const text = aligned(cells.get(column)?.[place] ?? "", width, column.right);
        return [["  "], column.title === "State" ? [text, paint] : [text]];
      });
      return lineOf([[MARK[one.level], paint], [" "], ...row.slice(1)], drawing.columns).trimEnd();
    };
    const below = problemsOf(one, drawing).map((text) => ({ text: () => text, first: false }));
    return [{ text: main, first: true }, ...below];
  });
  return { title: drawing.paint.dim(lineOf([[title]], drawing.columns)), lines };
}

const aligned = (text: string, width: number, right = false) => {
  const short = lineOf([[text]], width);
  return right ? padded("", width - widthOf(short)) + short : padded(short, width);
};

interface Chosen {
  readonly column: Column;
  readonly width: number;
}

/** Chooses as many columns as there is room for, without empty ones. */
function chosenOf(
  cells: ReadonlyMap<Column, readonly string[]>,
  several: boolean,
  columns: number,
): readonly Chosen[] {
  const wanted = [...cells]
    .filter(
      ([column, texts]) => texts.some((text) => text !== "") && (several || column.title !== "Deployment"),
    )
    .map(([column, texts]) => ({
      column,
      width: Math.min(
        column.most ?? 12,
        Math.max(widthOf(column.title), ...texts.map((text) => widthOf(text))),
      ),
    }));
  let room = columns - 2;
  const taken = new Set<Chosen>();
  for (const one of [...wanted].sort((a, b) => a.column.need - b.column.need)) {
    // The last one needs no distance to the next.
    if (one.width > room && one.column.need > 0) continue;
    taken.add(one);
    room -= one.width + 2;
  }
  return wanted.filter((one) => taken.has(one));
}

/** A text of many lines would push the others out of the window. */
const MOST_LINES = 3;

/** Since when, what is wrong, and what is being done. */
function problemsOf(one: WatchedInstance, { columns, rows, now, paint }: Drawing): readonly string[] {
  if (one.level !== "bad" && one.level !== "busy") return [];
  const since = one.since === undefined ? "" : `for ${spanText(now - one.since)}: `;
  const what = [
    ...one.problems.map((problem, place) => `${place === 0 ? since : ""}${oneLine(problem)}`),
    ...(one.action === "" ? [] : [`→ ${oneLine(one.action)}`]),
  ];
  const colour = paintOf(one.level, paint);
  return what.flatMap((text) => {
    const lines = wrapped(`    ${text}`, columns, "    ");
    const most = rows < LOW ? 1 : MOST_LINES;
    // The last one goes on beyond the edge, where it is cut.
    const rest = lines.slice(most - 1).map((line, place) => (place === 0 ? line : line.trim()));
    const kept = [...lines.slice(0, most - 1), ...(rest.length === 0 ? [] : [rest.join(" ")])];
    return kept.map((line) => colour(lineOf([[line]], columns)));
  });
}

/** How many there are of each state, the worst first: `✗ 1 failing  ● 5 running`. */
export function countsOf(all: readonly WatchedInstance[], paint: Paint): readonly LinePart[] {
  const counts = new Map<string, { readonly level: HealthLevel; readonly state: string; count: number }>();
  for (const { level, state } of all) {
    const known = counts.get(`${level} ${state}`) ?? { level, state, count: 0 };
    known.count++;
    counts.set(`${level} ${state}`, known);
  }
  return [...counts.values()]
    .sort((a, b) => LEVELS.indexOf(a.level) - LEVELS.indexOf(b.level) || b.count - a.count)
    .flatMap(({ level, state, count }) => [
      [`${MARK[level]} ${count} ${oneLine(state)}`, paintOf(level, paint)] as const,
      ["  "] as const,
    ]);
}
