import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { wholeNames } from "./files.ts";
import { directoryOf, type LocalCloud, placeOf } from "./local-cloud.ts";

/** Properties of a sandbox, as decided when it was made. */
export const vmRecord = v.object({
  format: v.literal(1),
  /** Place of the stemcell whose file system the sandbox sees; null for the host's file system. */
  stemcell: v.nullable(v.string()),
  /** Cid of the stemcell as create_vm got it. Absent if it was not recorded. */
  stemcellCid: v.optional(v.string()),
  /** True if its addresses are in a network of its own, not on the host's loopback. */
  ownNetwork: v.boolean(),
  addresses: v.array(v.object({ network: v.string(), ip: v.string() })),
});

export type SandboxRecord = v.InferOutput<typeof vmRecord>;

export async function readRecord(vmDir: string): Promise<SandboxRecord> {
  return v.parse(vmRecord, JSON.parse(await readFile(join(vmDir, "vm.json"), "utf8")));
}

export const vmDir = (cloud: LocalCloud, cid: string): string => placeOf(cloud, "vms", cid);
export const allVms = (cloud: LocalCloud): Promise<string[]> => wholeNames(directoryOf(cloud, "vms"));
