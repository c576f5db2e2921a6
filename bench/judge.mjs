// Judges the figures of a benchmark and prints them. A row is a ratio to a baseline of the same run, and its limit.
/** A few seconds, which CI spends to see that every figure still comes out, and that none is many times its limit. */
export const quick = process.argv.includes("--quick");

/** Instead of the table: the rows as JSON, for programs. */
const json = process.argv.includes("--json");

/**
 * How many times worse than its limit a figure of the quick form may be: one round, on a machine with others. A row of processor
 * time, which others disturb less, names a smaller one as `slack`.
 */
const QUICK_SLACK = 4;

/** Prints the table and returns whether every figure came out and every limit was kept. */
export function report(title, rows) {
  if (json) {
    const judged = rows.map((row) => ({ ...row, ...(row.limit !== undefined && { kept: kept(row) }) }));
    console.log(JSON.stringify({ title, quick, rows: judged }, null, 2));
    return verdict(rows);
  }
  const header = ["measured", "ours", "baseline", "ratio", "limit", ""];
  const body = rows.map((r) => [
    r.what,
    r.ours,
    r.baseline,
    `${r.ratio.toFixed(2)}x`,
    r.limit === undefined ? "" : `${r.atMost ? "at most" : "at least"} ${Number(limitOf(r).toPrecision(3))}x`,
    r.limit === undefined ? "" : kept(r) ? "ok" : "MISSED",
  ]);
  const widths = header.map((_, at) => Math.max(...[header, ...body].map((cells) => cells[at].length)));
  const line = (cells) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at]))
      .join("  ")
      .trimEnd();
  console.log(`${title}\n\n${[header, ...body].map(line).join("\n")}`);
  return verdict(rows);
}

function verdict(rows) {
  const broken = rows.filter(({ ratio }) => !Number.isFinite(ratio) || ratio === 0);
  for (const { what } of broken) console.error(`bench: no figure came out for '${what}'`);
  return broken.length === 0 && rows.every(kept);
}

function limitOf({ limit, atMost, slack = QUICK_SLACK }) {
  if (!quick) return limit;
  return atMost ? limit * slack : limit / slack;
}

const kept = (row) =>
  row.limit === undefined || (row.atMost ? row.ratio <= limitOf(row) : row.ratio >= limitOf(row));
