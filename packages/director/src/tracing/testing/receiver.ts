import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import * as v from "valibot";

const hex = (bytes: number) =>
  v.pipe(
    v.string(),
    v.regex(new RegExp(`^[0-9a-f]{${2 * bytes}}$`)),
    v.check((id) => !/^0+$/.test(id)),
  );
const nano = v.pipe(v.string(), v.regex(/^[1-9]\d{17,19}$/));
const value = v.union([
  v.strictObject({ stringValue: v.string() }),
  v.strictObject({ intValue: v.pipe(v.string(), v.regex(/^-?\d+$/)) }),
  v.strictObject({ doubleValue: v.number() }),
  v.strictObject({ boolValue: v.boolean() }),
]);
const attributes = v.array(v.strictObject({ key: v.pipe(v.string(), v.minLength(1)), value }));
const span = v.strictObject({
  traceId: hex(16),
  spanId: hex(8),
  parentSpanId: v.optional(hex(8)),
  name: v.pipe(v.string(), v.minLength(1)),
  kind: v.picklist([1, 2, 3, 4, 5]),
  startTimeUnixNano: nano,
  endTimeUnixNano: nano,
  attributes,
  status: v.strictObject({ code: v.optional(v.picklist([0, 1, 2])), message: v.optional(v.string()) }),
});

/** `ExportTraceServiceRequest` of OTLP 1, as its JSON is, and nothing that is not in it. */
const request = v.strictObject({
  resourceSpans: v.array(
    v.strictObject({
      resource: v.strictObject({ attributes }),
      scopeSpans: v.array(
        v.strictObject({ scope: v.strictObject({ name: v.string() }), spans: v.array(span) }),
      ),
    }),
  ),
});

export type ReceivedSpan = v.InferOutput<typeof span>;

/** A collector that judges what it is sent, and answers with `status`. */
export async function receiver() {
  const seen = {
    status: 200,
    posts: 0,
    spans: [] as ReceivedSpan[],
    resources: [] as unknown[],
    headers: [] as IncomingHttpHeaders[],
    wrong: [] as string[],
  };
  const server = createServer((incoming, reply) => {
    let text = "";
    incoming.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
    });
    incoming.on("end", () => {
      seen.posts += 1;
      seen.headers.push(incoming.headers);
      const checked = v.safeParse(request, JSON.parse(text));
      if (!checked.success) seen.wrong.push(...checked.issues.map((one) => JSON.stringify(v.flatten([one]))));
      else if (seen.status === 200)
        for (const { resource, scopeSpans } of checked.output.resourceSpans) {
          seen.resources.push(resource);
          seen.spans.push(...scopeSpans.flatMap(({ spans }) => spans));
        }
      if (incoming.method !== "POST" || incoming.url !== "/v1/traces")
        seen.wrong.push(`${incoming.method} ${incoming.url}`);
      reply.writeHead(seen.status, { "content-type": "application/json" }).end("{}");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${port}`, seen, close };
}
