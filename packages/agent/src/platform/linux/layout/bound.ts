import { bindDirectory } from "../disks/bind.ts";
import type { DiskContext } from "../disks/context.ts";
import { inode, mountAt, mountTable } from "../disks/mounts.ts";

/** Puts a directory of the ephemeral disk in the place of one of the system. A mount that is there stays. */
export async function boundOver(
  context: DiskContext,
  source: string,
  target: string,
  flags: readonly string[],
): Promise<void> {
  const there = mountAt(await mountTable(context.paths), target);
  if (there !== undefined && (await inode(source)) !== (await inode(target))) {
    context.log.info(`${target} stays as it is: ${there.source} is mounted there`);
    return;
  }
  await bindDirectory(context, source, target, flags);
}
