import { readFile } from "node:fs/promises";
import type { Clock } from "@slipway/kernel/clock";
import { parseStrictJson } from "@slipway/kernel/strict-json";
import { matches } from "@slipway/protocol/schema/check";
import { open, text } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { Reach } from "./running.ts";

const texts = v.nullish(v.array(v.string()));
const info = open({
  name: text("name"),
  uuid: text("uuid"),
  version: text("version"),
  slipway: v.nullish(open({ problems: texts, upkeep: texts })),
});
export type Info = v.InferOutput<typeof info>;

/** What the Director says about itself; undefined when there is no answer from one that our authority has certified. */
export async function infoOf(reach: Reach, clock: Clock, withinMs = 5000): Promise<Info | undefined> {
  const ca = await readFile(reach.caFile, "utf8").catch(() => undefined);
  if (ca === undefined) return undefined;
  const { Wire } = await import("../api/wire.ts");
  const late = new AbortController();
  const cancel = clock.after(withinMs, () => late.abort());
  const nobody = { user: undefined, password: undefined };
  const wire = new Wire({ url: reach.url, ca, ...nobody, clock, stop: late.signal, attempts: 1 });
  try {
    const { body } = await wire.send({ method: "GET", path: "/info", headers: {} });
    const answer = parseStrictJson(body.toString("utf8"), "/info");
    return matches(info, answer) ? answer : undefined;
  } catch {
    return undefined;
  } finally {
    cancel();
    wire.close();
  }
}
