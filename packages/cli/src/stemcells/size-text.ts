const UNITS = ["KiB", "MiB", "GiB"] as const;

/** `1.5 KiB` */
export function sizeText(bytes: number): string {
  let size = bytes;
  let unit = "B";
  for (const next of UNITS) {
    if (size < 1024) break;
    size /= 1024;
    unit = next;
  }
  return unit === "B" ? `${bytes} B` : `${size.toFixed(1)} ${unit}`;
}
