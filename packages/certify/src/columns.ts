/** Lines of cells below each other, each column as wide as its widest cell. */
export function columnsText(lines: readonly (readonly string[])[]): string {
  const widths = (lines[0] ?? []).map((_, at) => Math.max(...lines.map((cells) => (cells[at] ?? "").length)));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join("  ")
      .trimEnd();
  return lines.map(line).join("\n");
}

/** Versions of the parts of a mix: the first columns of every table of mixes. */
export const MIX_HEADER = ["Director", "CPI", "Stemcell"];
export const mixCells = (mix: {
  readonly director: number;
  readonly cpi: number;
  readonly stemcell: number;
}) => [`v${mix.director}`, `v${mix.cpi}`, `v${mix.stemcell}`];
