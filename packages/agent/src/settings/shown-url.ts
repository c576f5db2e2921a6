/** A URL as messages may show it: credentials and query, which may be one, are left out. */
export function shownUrl(url: string): string {
  if (!URL.canParse(url)) return "(not a URL)";
  const { protocol, host, pathname } = new URL(url);
  return `${protocol}//${host}${pathname === "/" ? "" : pathname}`;
}
