import { isUtf8 } from "node:buffer";
import type { IncomingMessage } from "node:http";

export type RequestBody =
  | { readonly kind: "text"; readonly text: string }
  /** `gone`: the client went away before the end. */
  | { readonly kind: "empty" | "too-large" | "not-text" | "gone" };

/**
 * Reads a body up to a limit. What exceeds it is read on and thrown away, so that a client that only listens after it
 * has sent everything still gets its answer; the server's request timeout bounds that.
 */
export function readBody(request: IncomingMessage, limit: number): Promise<RequestBody> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (body: RequestBody) => {
      chunks.length = 0;
      resolve(body);
    };
    if (Number(request.headers["content-length"] ?? 0) > limit) {
      request.resume();
      return settle({ kind: "too-large" });
    }
    request.on("data", (chunk: Buffer) => {
      size += chunk.length;
      if (size > limit) settle({ kind: "too-large" });
      else chunks.push(chunk);
    });
    request.on("end", () => settle(bodyOf(Buffer.concat(chunks))));
    request.on("error", () => settle({ kind: "gone" }));
    request.on("close", () => settle({ kind: "gone" }));
  });
}

function bodyOf(bytes: Buffer): RequestBody {
  if (bytes.length === 0) return { kind: "empty" };
  // Not TextDecoder: it would drop a byte order mark.
  return isUtf8(bytes) ? { kind: "text", text: bytes.toString("utf8") } : { kind: "not-text" };
}
