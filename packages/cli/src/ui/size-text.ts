const UNITS = ["MiB", "GiB", "TiB", "PiB"];

/** Sizes of disks: `1.0 GiB`, `500 MiB`. */
export function mebibytesText(mebibytes: number): string {
  if (mebibytes <= 0) return "0 B";
  let value = mebibytes;
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}
