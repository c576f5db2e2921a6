import type { ApiRequest } from "../api/director-api.ts";
import type { Command, TypedInput } from "../command.ts";
import { BadArgument } from "../parse/errors.ts";

const METHODS = ["GET", "POST", "PUT", "DELETE"] as const;

export const curl: Command = {
  name: "curl",
  summary: "send any request to the Director's API, and print what it answers",
  topic: "inspect",
  arguments: [{ name: "<path>", about: "with its query: /tasks?limit=3" }],
  options: [
    { flags: "-X, --method <method>", about: "GET, POST, PUT or DELETE (GET)" },
    { flags: "-H, --header <header>", about: "`name: value`", repeats: true },
    { flags: "--body <path>", about: "file with the request's body; - reads standard input" },
    { flags: "-i, --show-headers", about: "also status and headers" },
  ],
  examples: [
    ["slipway curl /info", "who the Director is"],
    ["slipway curl '/tasks?state=processing'", "quote a query for the shell"],
    ["slipway curl -X PUT -H 'Content-Type: text/plain' --body note.txt /path", "a write"],
  ],
  async run(given, { ui, director }) {
    const request = await requestOf(given);
    const api = await director();
    const reply = await api.raw(request);
    if (given.flag("show-headers"))
      ui.line(
        [`HTTP ${reply.status}`, ...reply.headers.map(([name, value]) => `${name}: ${value}`)].join("\n"),
      );
    ui.block(reply.text);
    return 0;
  },
};

async function requestOf(
  given: TypedInput,
): Promise<ApiRequest & { readonly headers: Record<string, string> }> {
  const asked = (given.text("method") ?? "GET").toUpperCase();
  const method = METHODS.find((one) => one === asked);
  if (method === undefined) throw BadArgument({ what: `one of ${METHODS.join(", ")}`, given: asked });
  const path = given.argument(0) ?? "";
  if (!path.startsWith("/")) throw BadArgument({ what: "a path that begins with /", given: path });
  const headers: Record<string, string> = {};
  for (const header of given.texts("header")) {
    const [, name, value] = /^([\w-]+):(.*)$/.exec(header) ?? [];
    if (name === undefined || value === undefined)
      throw BadArgument({ what: "a header like 'Content-Type: text/plain'", given: header });
    headers[name.toLowerCase()] = value.trim();
  }
  const file = given.text("body");
  if (file === undefined) return { method, path, headers };
  const { readTextOrInput } = await import("../interpolate/read-text.ts");
  return { method, path, headers, body: await readTextOrInput("body", file) };
}
