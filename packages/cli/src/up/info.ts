import { readFile } from "node:fs/promises";
import { get } from "node:https";
import type { Clock } from "@slipway/kernel/clock";
import { matches } from "@slipway/protocol/schema/check";
import { open, text } from "@slipway/protocol/schema/json";
import type * as v from "valibot";
import type { Reach } from "./running.ts";

const info = open({ name: text("name"), uuid: text("uuid"), version: text("version") });
export type Info = v.InferOutput<typeof info>;

const LARGEST = 64 * 1024;

/** What the Director says about itself; undefined when there is no answer from one that our authority has certified. */
export async function infoOf(reach: Reach, clock: Clock, withinMs = 5000): Promise<Info | undefined> {
  const ca = await readFile(reach.caFile, "utf8").catch(() => undefined);
  if (ca === undefined) return undefined;
  const late = new AbortController();
  const cancel = clock.after(withinMs, () => late.abort());
  try {
    const answer: unknown = JSON.parse(await read(new URL("/info", reach.url), ca, late.signal));
    return matches(info, answer) ? answer : undefined;
  } catch {
    return undefined;
  } finally {
    cancel();
  }
}

function read(url: URL, ca: string, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = get(url, { ca, signal, agent: false }, (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
        if (body.length > LARGEST) request.destroy(new Error("too long an answer"));
      });
      response.on("error", reject);
      response.on("end", () => resolve(body));
    });
    request.on("error", reject);
  });
}
