import { rm } from "node:fs/promises";
import { join } from "node:path";
import { arrivedDevice, isFileName, knownDisk } from "../disks/persistent.ts";
import { BadRequest } from "../errors.ts";
import type { AgentServices } from "../services.ts";
import type { Action } from "./action.ts";
import { linkTo } from "./add_dynamic_disk.ts";

interface Association {
  readonly name: string;
  readonly cid: string;
}

/** Links disks for older Directors, which send this message. Newer ones send update_settings. */
export const associateDisks: Action<"associate_disks"> = async ({ associations }, { services, signal }) => {
  await linkDisks(associations.disk_associations ?? [], services, signal);
  return "associated";
};

/** Removes links that an earlier message named and this one does not. Upstream leaves them dangling. */
export async function unlinkDisks(
  before: readonly Association[],
  now: readonly Association[],
  { paths }: Pick<AgentServices, "paths">,
): Promise<void> {
  for (const { name } of before)
    if (isFileName(name) && !now.some((one) => one.name === name))
      await rm(join(paths.diskAssociations, name), { force: true });
}

export async function linkDisks(
  associations: readonly Association[],
  services: AgentServices,
  signal: AbortSignal,
): Promise<void> {
  for (const { name, cid } of associations) {
    if (!isFileName(name)) throw BadRequest({ why: "a disk association must be named like a file" });
    const device = await arrivedDevice(services, await knownDisk(services, cid), signal);
    const dir = services.paths.diskAssociations;
    await linkTo(device, join(dir, name), dir, services.random.hex(4));
  }
}
