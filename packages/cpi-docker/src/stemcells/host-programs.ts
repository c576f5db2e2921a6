import { access, constants, realpath, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { CommandMissing, type Exec } from "@slipway/kernel/exec";
import { NoHostRoot } from "../errors.ts";

/** Programs that our agent, its init and the disk helper run, by the Debian package that has them. */
const NEEDED: Readonly<Record<string, string>> = {
  // Upstream's Docker CPI starts its VMs with it.
  bash: "bash",
  coreutils:
    "basename cat chmod chown cp cut date dd df dirname env head id ln ls mkdir mknod mv readlink rm rmdir sleep sort " +
    "stat sync tail tee touch tr true truncate wc",
  dash: "sh",
  e2fsprogs: "e2fsck mke2fs resize2fs",
  grep: "grep",
  gzip: "gzip",
  iproute2: "ip",
  mawk: "awk",
  mount: "losetup mount umount",
  sed: "sed",
  tar: "tar",
  "util-linux": "blkid blockdev fallocate flock fsfreeze",
};

/** Programs that jobs and people are used to. */
const WELCOME =
  "dmesg echo expr false find free hostname kill md5sum mkfs.ext4 mkfs.xfs mountpoint nice nohup pgrep pkill ps " +
  "sha1sum sha256sum test timeout uname uptime xargs xfs_growfs";

export const SEARCHED = ["/usr/local/sbin", "/usr/local/bin", "/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/**
 * Libraries that are opened by name while programs run, so that `ldd` does not list them. Older C libraries need them
 * for users and host names.
 */
const BY_NAME = ["libnss_files.so.2", "libnss_dns.so.2", "libgcc_s.so.1"];

/** Files of this machine, and where they belong in a root. */
export interface HostFile {
  readonly name: string;
  readonly path: string;
  readonly mode: number;
}

export interface HostPrograms {
  readonly files: readonly HostFile[];
  /** Programs that would be welcome and are not here. */
  readonly missing: readonly string[];
}

/** Programs and the libraries that they and `more` need. `places`: where they are looked for. */
export async function hostPrograms(
  exec: Exec,
  more: readonly string[],
  places: readonly string[] = SEARCHED,
): Promise<HostPrograms> {
  if (process.platform !== "linux")
    throw NoHostRoot({ why: `it runs ${process.platform}, and containers Linux` });
  const found = new Map<string, string>();
  const missing: string[] = [];
  const lacking: string[] = [];
  const search = async (names: string, lacks: (name: string) => void) => {
    for (const name of names.split(" ")) {
      const at = await firstOf(places, name);
      if (at === undefined) lacks(name);
      else found.set(name, at);
    }
  };
  for (const [owner, names] of Object.entries(NEEDED))
    await search(names, (name) => lacking.push(`${name} (Debian's package ${owner})`));
  if (lacking.length > 0) throw NoHostRoot({ why: `there is no ${lacking.join(", no ")}` });
  await search(WELCOME, (name) => missing.push(name));
  const programs = [...found].map(([name, at]) => file(`usr/bin/${name}`, at, 0o755));
  const libraries = await librariesOf(exec, [...found.values(), ...more]);
  return {
    files: await Promise.all([...programs, ...libraries.map((at) => file(inRoot(at), at, 0o755))]),
    missing,
  };
}

async function firstOf(places: readonly string[], name: string): Promise<string | undefined> {
  for (const place of places) {
    const at = join(place, name);
    const usable = await access(at, constants.X_OK).then(
      async () => (await stat(at)).isFile(),
      () => false,
    );
    if (usable) return at;
  }
  return undefined;
}

async function file(name: string, at: string, mode: number): Promise<HostFile> {
  return { name, path: await realpath(at), mode };
}

/** Scripts and static programs have none; `ldd` says so, and that is no failure. */
async function librariesOf(exec: Exec, programs: readonly string[]): Promise<readonly string[]> {
  const listed = await exec("ldd", programs, { keep: 16 << 20 }).catch((cause: unknown) => {
    throw CommandMissing.is(cause)
      ? NoHostRoot({ why: "there is no ldd (Debian's package libc-bin)" }, { cause })
      : cause;
  });
  const lost = /^\s*(\S+) => not found/m.exec(listed.stdout)?.[1];
  if (lost !== undefined) throw NoHostRoot({ why: `a program needs the library ${lost}, which is not here` });
  const paths = new Set([...listed.stdout.matchAll(/^\s+(?:\S+ => )?(\/\S+)/gm)].map(([, at = ""]) => at));
  const libc = [...paths].find((at) => /\/libc\.so[^/]*$/.test(at));
  for (const name of libc === undefined ? [] : BY_NAME) {
    const at = join(dirname(libc ?? ""), name);
    if (
      await access(at).then(
        () => true,
        () => false,
      )
    )
      paths.add(at);
  }
  // A machine may name one library in two ways.
  return [...new Map([...paths].map((at) => [inRoot(at), at])).values()];
}

/** `/lib` and the like are links to what is below `usr`. */
const inRoot = (at: string): string => at.replace(/^\/(?=(?:s?bin|lib\w*)\/)/, "usr/").replace(/^\//, "");
