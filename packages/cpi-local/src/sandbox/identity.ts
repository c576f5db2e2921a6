import { readFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { ifThere } from "@slipway/kernel/files";
import { lifeOf, ownIdentity, type ProcessIdentity } from "@slipway/kernel/process-identity";
import * as v from "valibot";
import { ForeignSandbox } from "../errors.ts";

const recorded = v.object({
  pid: v.pipe(v.number(), v.integer(), v.minValue(2)),
  started: v.pipe(v.string(), v.regex(/^\d+$/)),
  boot: v.string(),
  namespace: v.string(),
});

/** The init of the sandbox in this directory, if it runs. A pid that another process has by now is not it. */
export async function runningIn(vmDir: string): Promise<ProcessIdentity | undefined> {
  const text = await ifThere(readFile(join(vmDir, "process"), "utf8"));
  if (text === undefined) return undefined;
  const identity = v.parse(recorded, JSON.parse(text));
  const life = lifeOf(identity, ownIdentity());
  if (life === "unknown") throw ForeignSandbox({ cid: basename(vmDir), pid: identity.pid });
  return life === "alive" ? identity : undefined;
}
