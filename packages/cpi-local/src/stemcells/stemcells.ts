import { mkdir, readFile, rename } from "node:fs/promises";
import { join } from "node:path";
import { cloudError, stemcellNotFound } from "@slipway/cpi-sdk/errors";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { exists } from "@slipway/kernel/files";
import type { JsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { discard, PARTIAL } from "../files.ts";
import { type LocalCloud, locked, place, placeOf } from "../local-cloud.ts";
import { allVms, readRecord, vmDir } from "../vm-record.ts";
import { extractRoot } from "./extract.ts";
import { imageKind } from "./image-kind.ts";

const stemcellRecord = v.object({ format: v.literal(1), root: v.picklist(["host", "image"]) });

export const stemcellDir = (cloud: LocalCloud, cid: string): string => placeOf(cloud, "stemcells", cid);

export interface StemcellOrder {
  readonly cid: string;
  readonly imagePath: string;
  readonly cloudProperties: JsonObject;
  readonly signal: AbortSignal;
  readonly warn: (line: string) => void;
}

/** Made under another name and renamed when whole. */
export async function createStemcell(cloud: LocalCloud, order: StemcellOrder): Promise<string> {
  const { cid } = order;
  const path = stemcellDir(cloud, cid);
  return await locked(cloud, `stemcell-${place(cid)}`, async () => {
    if (await exists(path)) return cid;
    await discard(cloud, path);
    const kind = await imageKind(order.imagePath, order.cloudProperties);
    const partial = `${path}${PARTIAL}`;
    try {
      await mkdir(partial, { recursive: true, mode: 0o700 });
      if (kind !== "host")
        await extractRoot({ ...order, to: join(partial, "root"), packed: kind === "tar.gz" });
      const record = { format: 1, root: kind === "host" ? "host" : "image" };
      await writeFileAtomic(join(partial, "stemcell.json"), JSON.stringify(record));
      await rename(partial, path);
    } catch (error) {
      await discard(cloud, path);
      throw error;
    }
    return cid;
  });
}

/** Returns `host`, or the directory with the stemcell's own root file system. */
export async function rootOfStemcell(cloud: LocalCloud, cid: string): Promise<"host" | string> {
  const path = stemcellDir(cloud, cid);
  if (!(await exists(path))) throw stemcellNotFound(cid);
  const record = v.parse(stemcellRecord, JSON.parse(await readFile(join(path, "stemcell.json"), "utf8")));
  return record.root === "host" ? "host" : join(path, "root");
}

/** Removing one that is not there is success. */
export async function removeStemcell(cloud: LocalCloud, cid: string): Promise<void> {
  for (const vm of await allVms(cloud)) {
    const record = await readRecord(vmDir(cloud, vm)).catch(() => undefined);
    if (record?.stemcell === place(cid))
      throw cloudError(`stemcell '${cid}' is the root file system of the sandbox '${vm}'; delete that first`);
  }
  await discard(cloud, stemcellDir(cloud, cid));
}
