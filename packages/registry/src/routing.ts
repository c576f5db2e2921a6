import type { RegistryStatus } from "@slipway/protocol/registry/documents";

export type RegistryRoute =
  | { readonly kind: "read" | "write" | "remove"; readonly id: string }
  | { readonly kind: "nowhere" };

const KINDS: ReadonlyMap<string, "read" | "write" | "remove"> = new Map([
  ["GET", "read"],
  ["PUT", "write"],
  ["DELETE", "remove"],
]);

/** The target as it came: parsing it as a URL would fold `..` and other ids away. HTTP also allows the absolute form. */
const TARGET = /^(?:https?:\/\/[^/?#]*)?\/instances\/([^/?#]+)\/settings(?:\?.*)?$/;

export function route(method: string, target: string): RegistryRoute {
  const kind = KINDS.get(method);
  const encoded = TARGET.exec(target)?.[1];
  const id = encoded === undefined ? undefined : decoded(encoded);
  return kind === undefined || id === undefined ? { kind: "nowhere" } : { kind, id };
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

export interface RegistryReply {
  readonly status: number;
  readonly text: string;
  /** Tell the client how to authenticate. */
  readonly challenge?: true;
}

const plain = (status: number, word: RegistryStatus): RegistryReply => ({
  status,
  text: JSON.stringify({ status: word }),
});

export const OK = plain(200, "ok");
export const NOT_TEXT = plain(400, "error");
export const DENIED: RegistryReply = { ...plain(401, "access_denied"), challenge: true };
export const NOT_FOUND = plain(404, "not_found");
export const TOO_LARGE = plain(413, "error");
export const FAILED = plain(500, "error");

/** The settings stay a text: JSON inside JSON, which the reader decodes twice. */
export const settingsReply = (settings: string): RegistryReply => ({
  status: 200,
  text: JSON.stringify({ status: "ok", settings }),
});
