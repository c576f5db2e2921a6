/** Families by their memory for each processor, GiB: of all regions, on Nitro. */
const FAMILIES = [
  ["c5", 2, [2, 4, 8, 16, 36, 48, 72, 96]],
  ["m5", 4, [2, 4, 8, 16, 32, 48, 64, 96]],
  ["r5", 8, [2, 4, 8, 16, 32, 48, 64, 96]],
] as const;
/** Types below two full processors, which share theirs. */
const SMALL = [
  ["t3.nano", 2, 512],
  ["t3.micro", 2, 1024],
  ["t3.small", 2, 2048],
] as const;

const GIB = 1024;

/** Returns the type with the least memory, then the fewest processors, that has as much as asked for. */
export function smallestType(cpu: number, ramMib: number): string | undefined {
  const sizes = FAMILIES.flatMap(([family, perProcessor, counts]) =>
    counts.map((count) => [`${family}.${sizeName(count)}`, count, count * perProcessor * GIB] as const),
  );
  const fitting = [...SMALL, ...sizes].filter(([, count, ram]) => count >= cpu && ram >= ramMib);
  fitting.sort(([, oneCpu, oneRam], [, otherCpu, otherRam]) => oneRam - otherRam || oneCpu - otherCpu);
  return fitting[0]?.[0];
}

const sizeName = (processors: number): string => {
  if (processors === 2) return "large";
  return processors === 4 ? "xlarge" : `${processors / 4}xlarge`;
};
