import { cloudError } from "@slipway/cpi-sdk/errors";
import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { DockerCloudContext } from "../cloud-context.ts";
import { DiskHelper } from "./disk-helper.ts";
import { LIST } from "./scripts/disks.ts";

export interface FoundDisk {
  readonly cid: string;
  readonly size?: number;
  /** The VM that has it; empty: none. */
  readonly holder: string;
  readonly metadata: JsonObject;
}

/** All of the volume, and of the pool. */
export async function listDisks(cloud: DockerCloudContext): Promise<readonly FoundDisk[]> {
  const diskHelper = await DiskHelper.openIfUsed(cloud);
  const ran = await diskHelper?.run(LIST, [], "listing the disks");
  if (ran === undefined) return [];
  if (ran.code !== 0) throw cloudError(`the disks are not known: ${ran.stderr.trim().slice(-300)}`);
  return ran.stdout
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => {
      const [cid = "", bytes = "", holder = "", metadata = ""] = line.split("\t");
      const told: unknown = metadata === "" ? {} : JSON.parse(metadata);
      return {
        cid,
        ...(bytes !== "" && { size: Math.floor(Number(bytes) / 2 ** 20) }),
        holder,
        metadata: isObject(told) ? (told as JsonObject) : {},
      };
    });
}
