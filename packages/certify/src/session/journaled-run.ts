import { parseStrictJson } from "@slipway/kernel/strict-json";
import { type CpiRequest, type CpiResponse, cpiRequest, cpiResponse } from "@slipway/protocol/cpi/envelope";
import { matches } from "@slipway/protocol/schema/check";
import type { RunProgram } from "../exec-cpi.ts";
import type { Journal } from "./journal.ts";

/** Methods that make something, each with the method that removes it. */
export const REMOVAL: Readonly<Record<string, string>> = {
  create_vm: "delete_vm",
  snapshot_disk: "delete_snapshot",
  create_disk: "delete_disk",
  update_disk: "delete_disk",
  create_network: "delete_network",
  create_stemcell: "delete_stemcell",
};

/** Runs a CPI and keeps a journal of what it makes and removes. */
export const journaled =
  (run: RunProgram, journal: Journal): RunProgram =>
  async (input, signal) => {
    const request = requestIn(input);
    if (request === undefined) return await run(input, signal);
    const number = REMOVAL[request.method] === undefined ? undefined : await journal.begin(request);
    const spoken = await run(input, signal);
    const reply = replyIn(spoken.out);
    // Without a reply nobody knows what was made: the entry stays open.
    if (reply === undefined) return spoken;
    if (number !== undefined) {
      const cid = reply.error === null ? cidIn(reply.result) : undefined;
      if (cid === undefined || cid === request.arguments[0]) await journal.ended(number);
      else await journal.made(number, cid);
    } else if (removed(request, reply)) {
      for (const thing of journal.things)
        if (thing.cid === request.arguments[0] && REMOVAL[thing.request.method] === request.method)
          await journal.ended(thing.number);
    }
    return spoken;
  };

const removed = ({ method }: CpiRequest, { error }: CpiResponse): boolean =>
  method.startsWith("delete_") && (error === null || error.type.endsWith("NotFound"));

/** Returns the cid in the result of a method that makes something. */
export function cidIn(result: unknown): string | undefined {
  const first: unknown = Array.isArray(result) ? result[0] : result;
  return typeof first === "string" && first !== "" ? first : undefined;
}

export function requestIn(input: string): CpiRequest | undefined {
  const value = jsonIn(input);
  return matches(cpiRequest, value) ? value : undefined;
}

export function replyIn(out: string): CpiResponse | undefined {
  const value = jsonIn(out);
  return matches(cpiResponse, value) ? value : undefined;
}

function jsonIn(source: string): unknown {
  try {
    return parseStrictJson(source, "it");
  } catch {
    return undefined;
  }
}
