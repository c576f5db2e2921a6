const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** Formats a size as upstream does for disks: `1.0 GiB`, `500 MiB`. */
export function sizeText(bytes: number): string {
  let value = Math.max(0, bytes);
  let unit = 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return `${unit > 0 && value < 10 ? value.toFixed(1) : Math.round(value)} ${UNITS[unit]}`;
}

export const mebibytesText = (mebibytes: number): string => sizeText(mebibytes * 2 ** 20);
