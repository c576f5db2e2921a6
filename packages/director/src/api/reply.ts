import type { Readable } from "node:stream";
import type { configConflict } from "@slipway/protocol/director/config";
import type { refusal as refusalWire } from "@slipway/protocol/director/refusal";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";

/** Answer of an endpoint, perhaps with a document. The server turns it into HTTP. */
export interface Reply<D = unknown> {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it is read. */
  readonly body: string | Uint8Array | Readable;
  /** Content of the body, to be checked against the endpoint's schema. */
  readonly document?: D;
}

/** Compact: the CLI looks for `"code":440012` without a blank. */
export const json = <const D>(document: D, status = 200): Reply<D> => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(document),
  document,
});

/**
 * A document, one key of which is JSON already: made elsewhere, and long. It is not read again here; `document`, which
 * only checks look at, reads it when it is asked for.
 */
export const written = <const D, const K extends string>(
  rest: D,
  key: K,
  text: string,
): Reply<D & { readonly [key in K]: never[] }> => {
  const head = JSON.stringify(rest).slice(0, -1);
  const body = `${head}${head === "{" ? "" : ","}${JSON.stringify(key)}:${text}}`;
  return {
    status: 200,
    headers: { "content-type": "application/json" },
    body,
    get document() {
      return JSON.parse(body) as D & { readonly [key in K]: never[] };
    },
  };
};

type Refusal = ReplyOf<typeof refusalWire> | ReplyOf<typeof configConflict>;

/** Returns a document that says why the endpoint has no answer. */
export const refusal = (document: Refusal, status: number): Reply<never> => ({
  status,
  headers: { "content-type": "application/json" },
  body: JSON.stringify(document),
});

export const plain = (
  status: number,
  body: string,
  headers: Readonly<Record<string, string>> = {},
): Reply<never> => ({
  status,
  headers: { "content-type": "text/plain;charset=utf-8", ...headers },
  body,
});

export const nothing = (status = 204): Reply<never> => ({ status, headers: {}, body: "" });

/** Relative: an absolute one behind a proxy is how one command becomes five tasks. */
export const toTask = (id: number): Reply<never> => ({
  status: 302,
  headers: { location: `/tasks/${id}` },
  body: "",
});
