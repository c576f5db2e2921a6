import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { type Cloud, directoryOf, placeOf } from "./cloud.ts";
import { wholeNames } from "./files.ts";

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

export type VmRecord = v.InferOutput<typeof vmRecord>;

export async function readRecord(vmDir: string): Promise<VmRecord> {
  return v.parse(vmRecord, JSON.parse(await readFile(join(vmDir, "vm.json"), "utf8")));
}

export const vmDir = (cloud: Cloud, cid: string): string => placeOf(cloud, "vms", cid);
export const allVms = (cloud: Cloud): Promise<string[]> => wholeNames(directoryOf(cloud, "vms"));
