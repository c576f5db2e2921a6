/** The names a mistyped one may have meant, nearest first. */
export function nearNames(typed: string, names: readonly string[]): readonly string[] {
  const most = Math.max(1, Math.floor(typed.length / 3));
  return names
    .map((name) => ({ name, far: distance(typed, name) }))
    .filter(({ far }) => far <= most)
    .sort((a, b) => a.far - b.far || a.name.localeCompare(b.name))
    .map(({ name }) => name)
    .slice(0, 3);
}

/** Letters to add, drop, change or swap with their neighbour to make one of the other. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const row = [i];
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      let best = Math.min(at(rows, i - 1, j) + 1, (row[j - 1] ?? 0) + 1, at(rows, i - 1, j - 1) + same);
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        best = Math.min(best, at(rows, i - 2, j - 2) + 1);
      row.push(best);
    }
    rows.push(row);
  }
  return at(rows, a.length, b.length);
}

const at = (rows: readonly (readonly number[])[], i: number, j: number): number => rows[i]?.[j] ?? 0;
