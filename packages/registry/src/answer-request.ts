import { type AddressCheck, shortAddress } from "./address-check.ts";
import type { CredentialVerdict } from "./credentials.ts";
import { AddressCheckFailed } from "./errors.ts";
import type { RequestBody } from "./read-body.ts";
import * as replies from "./routing.ts";
import { type RegistryReply, type RegistryRoute, route } from "./routing.ts";

/** A request, reduced to what the answer depends on. */
export interface RegistryRequest {
  readonly method: string;
  readonly target: string;
  readonly authorization: string | undefined;
  readonly peer: string | undefined;
  /** Called only once it is clear that the sender may write. */
  readonly body: () => Promise<RequestBody>;
}

export interface RegistryEntries {
  get(id: string): string | undefined;
  /** Resolves when the change is on disk. */
  put(id: string, settings: string): Promise<void>;
  delete(id: string): Promise<void>;
}

export interface RegistryContext {
  readonly entries: RegistryEntries;
  readonly credentials: (header: string | undefined) => CredentialVerdict;
  readonly addressCheck: AddressCheck;
  readonly onError: (error: unknown) => void;
}

export interface RegistryAnswer {
  readonly id: string | undefined;
  /** Missing when the client is gone. */
  readonly reply: RegistryReply | undefined;
}

export async function answer(question: RegistryRequest, context: RegistryContext): Promise<RegistryAnswer> {
  const way = route(question.method, question.target);
  if (way.kind === "nowhere") return { id: undefined, reply: replies.NOT_FOUND };
  try {
    return { id: way.id, reply: await replyTo(way, question, context) };
  } catch (error) {
    context.onError(error);
    return { id: way.id, reply: replies.FAILED };
  }
}

type Way = Exclude<RegistryRoute, { kind: "nowhere" }>;

async function replyTo(
  way: Way,
  question: RegistryRequest,
  context: RegistryContext,
): Promise<RegistryReply | undefined> {
  const verdict = context.credentials(question.authorization);
  if (way.kind === "read") return await read(way.id, verdict, question.peer, context);
  if (verdict !== "valid") return replies.DENIED;
  if (way.kind === "write") return await write(way.id, await question.body(), context.entries);
  await context.entries.delete(way.id);
  return replies.OK;
}

async function read(
  id: string,
  verdict: CredentialVerdict,
  peer: string | undefined,
  context: RegistryContext,
): Promise<RegistryReply> {
  if (verdict === "wrong") return replies.DENIED;
  // Checked before the entry is looked up: a stranger does not learn which ids exist.
  if (verdict === "missing" && !(await mayRead(id, peer, context.addressCheck))) return replies.FAILED;
  const settings = context.entries.get(id);
  return settings === undefined ? replies.NOT_FOUND : replies.settingsReply(settings);
}

async function mayRead(id: string, peer: string | undefined, check: AddressCheck): Promise<boolean> {
  if (peer === undefined) return false;
  const address = shortAddress(peer);
  try {
    return await check.mayRead(address, id);
  } catch (cause) {
    throw AddressCheckFailed({ address }, { cause });
  }
}

async function write(
  id: string,
  body: RequestBody,
  entries: RegistryEntries,
): Promise<RegistryReply | undefined> {
  switch (body.kind) {
    case "gone":
      return undefined;
    case "empty":
      return replies.FAILED;
    case "not-text":
      return replies.NOT_TEXT;
    case "too-large":
      return replies.TOO_LARGE;
    case "text":
      await entries.put(id, body.text);
      return replies.OK;
  }
}
