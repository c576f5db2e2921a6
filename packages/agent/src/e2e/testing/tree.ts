import { createHash } from "node:crypto";
import { lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { chmod, mkdir, open, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";

/** A few hundred files of every kind a job leaves on its disk, about 10 MB. Always the same, by the number. */
export async function fillTree(directory: string): Promise<void> {
  for (let at = 0; at < 8; at++) {
    const sub = join(directory, `job-${at}`, "data");
    await mkdir(sub, { recursive: true });
    for (let file = 0; file < 25; file++)
      await writeFile(join(sub, `f${file}`), bytes(at * 100 + file, 1 + file * 97));
    await symlink(`data/f${at}`, join(directory, `job-${at}`, "current"));
    await symlink("/nowhere/at all", join(directory, `job-${at}`, "dangling"));
    await chmod(join(sub, "f0"), 0o4711);
    await chmod(join(sub, "f1"), 0o400);
    await chmod(join(directory, `job-${at}`), 0o1770);
    await writeFile(join(directory, `job-${at}`, "name with space \n and a break"), "x");
    await writeFile(join(directory, `job-${at}`, "large"), bytes(at, 1_200_000));
  }
  const sparse = await open(join(directory, "sparse"), "w");
  await sparse.write(Buffer.from("end"), 0, 3, 2 << 20);
  await sparse.close();
}

/** Different for every number, and nothing that would compress to nothing. */
function bytes(number: number, size: number): Buffer {
  const block = createHash("sha512").update(`${number}`).digest();
  const content = Buffer.alloc(size, block);
  content.writeUInt8(number % 256, size - 1);
  return content;
}

/**
 * One hash over names, kinds, modes, owners, sizes, times, targets of links, and every byte. Synchronous: it is made
 * hundreds of times, and most of the time would go into waiting for turns.
 */
export function treeHash(directory: string): string {
  const hash = createHash("sha256");
  const walk = (path: string, name: string): void => {
    const facts = lstatSync(path, { bigint: true });
    const size = facts.isDirectory() ? 0n : facts.size;
    hash.update(`${name}\0${facts.mode} ${facts.uid} ${facts.gid} ${size} ${facts.mtimeNs}\0`);
    if (facts.isSymbolicLink()) hash.update(readlinkSync(path));
    if (facts.isFile()) hash.update(readFileSync(path));
    if (!facts.isDirectory()) return;
    for (const entry of readdirSync(path).sort()) {
      // Every ext4 has one of its own.
      if (name === "" && entry === "lost+found") continue;
      walk(join(path, entry), `${name}/${entry}`);
    }
  };
  walk(directory, "");
  return hash.digest("hex");
}
