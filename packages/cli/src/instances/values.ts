/** `0d 6h 21m 10s` */
export function uptimeText(seconds: number | null | undefined): string {
  if (seconds === null || seconds === undefined) return "";
  const whole = Math.floor(seconds);
  return `${Math.floor(whole / 86_400)}d ${Math.floor(whole / 3600) % 24}h ${Math.floor(whole / 60) % 60}m ${whole % 60}s`;
}

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** Formats bytes in powers of 1000, with one decimal place below ten: `9.5 MB`, `605 MB`. */
export function bytesText(bytes: number): string {
  if (bytes < 10) return `${bytes} B`;
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(1000) + 1e-9));
  const value = Math.floor((bytes / 1000 ** power) * 10 + 0.5) / 10;
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} ${UNITS[power]}`;
}

export const percentText = (value: string | null | undefined): string =>
  value === null || value === undefined || value === "" ? "" : `${value}%`;

export const cpuText = (total: number | null | undefined): string =>
  total === null || total === undefined ? "" : `${oneDigit(total)}%`;

/** Rounds as Go does: a quarter is exactly between two tenths, and goes to the even one. */
const oneDigit = (value: number): string => (value % 1 === 0.25 ? value - 0.05 : value).toFixed(1);

type Text = string | null | undefined;

export function shareText(size: { readonly kb?: Text; readonly percent?: Text } | null | undefined): string {
  if (!size?.kb || !size.percent || !/^\d+$/.test(size.kb)) return "";
  return `${size.percent}% (${bytesText(Number(size.kb) * 1000)})`;
}

export function processShareText(
  size:
    | { readonly kb?: number | null | undefined; readonly percent?: number | null | undefined }
    | null
    | undefined,
): string {
  if (typeof size?.kb !== "number" || typeof size.percent !== "number") return "";
  return `${oneDigit(size.percent)}% (${bytesText(size.kb * 1000)})`;
}

export const diskText = (
  disk: { readonly percent?: Text; readonly inode_percent?: Text } | null | undefined,
): string => (disk?.percent && disk.inode_percent ? `${disk.percent}% (${disk.inode_percent}i%)` : "");
