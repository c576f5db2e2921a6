import { readFile } from "node:fs/promises";
import { join } from "node:path";
import * as v from "valibot";
import { type Cloud, directoryOf, placeOf } from "./cloud.ts";
import { wholeNames } from "./files.ts";

/** What a sandbox is, as decided when it was made. */
export const vmRecord = v.object({
  format: v.literal(1),
  /** Whose file system it sees: the host's, or that of the stemcell in this place. */
  stemcell: v.nullable(v.string()),
  /** As create_vm was given it. Absent: nobody noted it. */
  stemcellCid: v.optional(v.string()),
  /** Its addresses are of a network of its own, not of the host's loopback. */
  ownNetwork: v.boolean(),
  addresses: v.array(v.object({ network: v.string(), ip: v.string() })),
});

export type VmRecord = v.InferOutput<typeof vmRecord>;

export async function readRecord(vmDir: string): Promise<VmRecord> {
  return v.parse(vmRecord, JSON.parse(await readFile(join(vmDir, "vm.json"), "utf8")));
}

export const vmDir = (cloud: Cloud, cid: string): string => placeOf(cloud, "vms", cid);
export const allVms = (cloud: Cloud): Promise<string[]> => wholeNames(directoryOf(cloud, "vms"));
