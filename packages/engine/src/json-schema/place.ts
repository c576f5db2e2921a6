/** Formats a path as upstream does: `/db/port`, or root. */
export const place = (at: readonly (string | number)[]): string =>
  at.length === 0
    ? "root"
    : `\`${at.map((key) => `/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("")}\``;
