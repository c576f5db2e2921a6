import type { Call } from "../call.ts";
import { plain, type Reply } from "../reply.ts";
import { endpoint } from "../route.ts";
import type { Services } from "../services.ts";

/**
 * Nothing but files of the Director runs or is loaded. Without inline script and with trusted types, text of the API that
 * ends up in the page cannot become a script.
 */
const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types 'none'",
].join("; ");

const HEADERS = {
  "content-security-policy": POLICY,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  // A Director that was upgraded has another page; the ETag makes the check cheap.
  "cache-control": "no-cache",
};

async function serve(name: string, { console }: Services): Promise<Reply<never>> {
  const file = await console?.file(name);
  if (file === undefined) return plain(404, "not found\n");
  return { status: 200, headers: { ...HEADERS, "content-type": file.type }, body: file.text };
}

/** Serves the page of the console. It holds nothing of the Director: its script asks the API, with credentials. */
export const getConsole = endpoint({}, (_call: Call, services) => serve("page.html", services));

/** Serves a file of the console. */
export const getConsoleFile = endpoint({}, (call: Call, services) => serve(call.params.file ?? "", services));
