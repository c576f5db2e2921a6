import { createHash } from "node:crypto";
import { createReadStream, createWriteStream } from "node:fs";
import { open, rename, rm, stat } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { syncDirectory } from "@slipway/kernel/atomic-file";
import { type Exec, systemExec } from "@slipway/kernel/exec";
import { systemRandom } from "@slipway/kernel/random";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import { EPOCH, GROUPS, imageFiles } from "../image-files.ts";
import { type HostPrograms, hostPrograms } from "./host-programs.ts";

export interface HostRootOrder {
  /** The agent's bundle. */
  readonly agent: string;
  /** The Node.js that runs it; this process's when left out. */
  readonly node?: string;
  readonly exec?: Exec;
  /** Directories where programs are looked for; the system's when left out. */
  readonly places?: readonly string[];
}

export interface HostRoot {
  readonly path: string;
  /** Bytes, also when unpacked. */
  readonly size: number;
  /** Other content has another; 64 hex digits. */
  readonly id: string;
  /** Programs that would be welcome in it and are not on this machine. */
  readonly missing: readonly string[];
}

/**
 * A small root file system of this machine's own programs, their libraries, this Node.js and the agent, as a tar. Quick
 * and without a network, for trying things: there is no package manager in it, no sshd, and its programs get no updates.
 * The same files give the same bytes.
 */
export async function hostRoot(order: HostRootOrder & { readonly to: string }): Promise<HostRoot> {
  const { to } = order;
  const { entries, missing } = await planned(order);
  const partial = join(dirname(to), `.${basename(to)}.${systemRandom.hex(6)}.partial`);
  try {
    const id = await idOf(entries);
    await pipeline(tarBytes(entries, EPOCH), createWriteStream(partial, { flags: "wx", mode: 0o644 }));
    const file = await open(partial, "r");
    await file.sync().finally(() => file.close());
    const { size } = await stat(partial);
    await rename(partial, to);
    await syncDirectory(dirname(to));
    return { path: to, size, id, missing };
  } finally {
    await rm(partial, { force: true });
  }
}

/** The id that `hostRoot` would give, without making anything. */
export async function hostRootId(order: HostRootOrder): Promise<string> {
  return await idOf((await planned(order)).entries);
}

async function planned({ agent, node = process.execPath, exec = systemExec, places }: HostRootOrder) {
  const found = await hostPrograms(exec, [node], places);
  const inside = imageFiles({ agent, node }).map(async (file): Promise<TarInput> => {
    const { name, mode } = file;
    if ("text" in file) return { type: "text", name, mode, text: file.text };
    return { type: "file", name, mode, path: file.path };
  });
  return { entries: entriesOf(found, await Promise.all(inside)), missing: found.missing };
}

const DIRECTORIES: Readonly<Record<string, number>> = {
  ...Object.fromEntries(
    ["dev", "etc", "home", "proc", "run", "sys", "usr", "usr/lib64", "var/log"].map((name) => [name, 0o755]),
  ),
  ...{ root: 0o700, tmp: 0o1777, "var/tmp": 0o1777 },
};

const LINKS: Readonly<Record<string, string>> = {
  ...{ bin: "usr/bin", sbin: "usr/sbin", lib: "usr/lib", lib64: "usr/lib64", "var/run": "../run" },
  "usr/local/bin/slipway-agent": "../../lib/slipway/slipway-agent.cjs",
};

const groups = Object.entries(GROUPS);
const day = Math.floor(EPOCH / 86_400);

/** For hashes on its standard input, as the agent sets passwords. The usual one needs PAM, with all its modules. */
const CHPASSWD = `#!/bin/sh
set -eu
[ "$*" = -e ]
umask 077
awk -F: -v OFS=: '
BEGIN { while ((getline line < "-") > 0) hash[substr(line, 1, index(line, ":") - 1)] = substr(line, index(line, ":") + 1) }
$1 in hash { $2 = hash[$1] }
{ print }' /etc/shadow >/etc/shadow.new
mv /etc/shadow.new /etc/shadow
`;

const TEXTS: Readonly<Record<string, readonly [mode: number, text: string]>> = {
  "etc/group": [
    0o644,
    [
      "root:x:0:",
      ...groups.map(([name, gid]) => `${name}:x:${gid}:${name === "vcap" ? "" : "vcap"}`),
      "",
    ].join("\n"),
  ],
  "etc/nsswitch.conf": [0o644, "passwd: files\ngroup: files\nshadow: files\nhosts: files dns\n"],
  "etc/os-release": [0o644, 'ID=slipway-host\nNAME="Programs of a host"\nPRETTY_NAME="Programs of a host"\n'],
  "etc/passwd": [0o644, `root:x:0:0:root:/root:/bin/sh\nvcap:x:1000:${GROUPS.vcap}::/home/vcap:/bin/sh\n`],
  "etc/shadow": [0o600, ["root", "vcap"].map((name) => `${name}:*:${day}:0:99999:7:::\n`).join("")],
  "usr/sbin/chpasswd": [0o755, CHPASSWD],
};

/** In the order of their names, each directory before what is in it. A second name of a program is a link. Pure. */
function entriesOf({ files }: HostPrograms, inside: readonly TarInput[]): readonly TarInput[] {
  const all = new Map<string, TarInput>();
  const put = (entry: TarInput) => all.set(entry.name, entry);
  for (const [name, mode] of Object.entries(DIRECTORIES)) put({ type: "directory", name, mode });
  for (const [name, to] of Object.entries(LINKS)) put({ type: "symlink", name, mode: 0o777, to });
  for (const [name, [mode, text]] of Object.entries(TEXTS)) put({ type: "text", name, mode, text });
  const first = new Map<string, string>();
  for (const { name, path, mode } of files) {
    const same = first.get(path);
    first.set(path, same ?? name);
    if (same !== undefined && dirname(same) === dirname(name))
      put({ type: "symlink", name, mode: 0o777, to: basename(same) });
    else put({ type: "file", name, mode, path });
  }
  for (const entry of inside) put(entry);
  for (const name of [...all.keys()].flatMap(parentsOf))
    if (!all.has(name)) put({ type: "directory", name, mode: 0o755 });
  return [...all.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
}

const parentsOf = (name: string): readonly string[] => {
  const parts = name.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
};

async function idOf(entries: readonly TarInput[]): Promise<string> {
  const sum = createHash("sha256");
  for (const entry of entries) {
    const { type, name, mode } = entry;
    const content =
      type === "file"
        ? await digestOf(entry.path)
        : type === "text"
          ? entry.text
          : type === "symlink"
            ? entry.to
            : "";
    sum.update(JSON.stringify([type, name, mode, content]));
  }
  return sum.digest("hex");
}

async function digestOf(path: string): Promise<string> {
  const sum = createHash("sha256");
  for await (const piece of createReadStream(path, { highWaterMark: 1 << 20 }))
    sum.update(piece as Uint8Array);
  return sum.digest("hex");
}
