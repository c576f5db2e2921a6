import { BadEnvironment } from "./errors.ts";

const PORT = 25555;

/** As upstream: always TLS, port 25555 unless another is given, any path dropped. */
export function directorUrl(given: string): string {
  const scheme = /^([a-z][\w+.-]*):\/\//i.exec(given)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "https")
    throw BadEnvironment({ given, why: "a Director is reached over https" });
  let url: URL;
  try {
    url = new URL(scheme === undefined ? `https://${given}` : given);
  } catch (cause) {
    throw BadEnvironment({ given, why: "it cannot be read as a URL" }, { cause });
  }
  // The port of https itself is dropped by URL.
  const port = url.port || (/:443(\/|$)/.test(given) ? "443" : String(PORT));
  return `https://${url.hostname}:${port}`;
}
