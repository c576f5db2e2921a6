import { join } from "node:path";
import { bindDirectory } from "../disks/bind.ts";
import type { DiskContext } from "../disks/context.ts";
import { inode } from "../disks/mounts.ts";
import { boundOver } from "./bound.ts";
import { ownedDirectory } from "./owned.ts";

const FOR_EVERYBODY = 0o1777;

/** `/tmp` and `/var/tmp` on the ephemeral disk, unless told otherwise, and `/home` without devices. */
export async function setUpTemporary(context: DiskContext): Promise<void> {
  const { paths, config } = context;
  const places = [paths.system("tmp"), paths.system("var", "tmp")];
  for (const place of places) await ownedDirectory(paths, place, FOR_EVERYBODY, "vcap");
  if (!config.UseDefaultTmpDir) {
    const source = join(paths.data, "root_tmp");
    await ownedDirectory(paths, source, FOR_EVERYBODY, "vcap");
    for (const place of places) await boundOver(context, source, place, ["nodev", "nosuid", "noexec"]);
  }
  const home = paths.system("home");
  if ((await inode(home)) !== undefined) await bindDirectory(context, home, home, ["nodev", "nosuid"]);
}
