import { createWriteStream } from "node:fs";
import { realpath } from "node:fs/promises";
import { basename } from "node:path";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import { systemExec } from "@slipway/kernel/exec";
import { type TarInput, tarBytes } from "@slipway/kernel/tar/write";
import { hostPrograms } from "../stemcells/host-programs.ts";

/** Contents of `agent.json` in upstream's stemcells for Warden. */
export const WARDEN_AGENT_JSON = {
  Platform: {
    Linux: {
      UseDefaultTmpDir: true,
      UsePreformattedPersistentDisk: true,
      BindMountPersistentDisk: true,
      SkipDiskSetup: true,
    },
  },
  Infrastructure: {
    Settings: { Sources: [{ Type: "File", SettingsPath: "/var/vcap/bosh/warden-cpi-agent-env.json" }] },
  },
};

/**
 * In place of upstream's agent, what matters of it to a CPI. It reads the settings its configuration names, and puts
 * files of its own in the place of those in /etc, by renaming. With an argument it mounts a disk: what the hint leads to,
 * as it is. It makes no file system and no device node, and mounts nothing again when it starts.
 */
const AGENT = `#!/bin/bash
bosh=/var/vcap/bosh
if [ "$1" = mount ]; then
  options=()
  ! grep -q '"BindMountPersistentDisk":true' $bosh/agent.json || options=(-o bind)
  mount "\${options[@]}" "$3" /var/vcap/store || exit 1
  printf %s "$2" >$bosh/managed_disk_settings.json
  exit
fi
set -e
trap 'exit 0' TERM
settings=$(sed -n 's/.*"SettingsPath":"\\([^"]*\\)".*/\\1/p' $bosh/agent.json)
until [ -s "$settings" ]; do sleep 0.05; done
cat "$settings" >$bosh/settings.json
cat /etc/resolv.conf >$bosh/resolv.conf.found
env >$bosh/environment
for file in resolv.conf hosts hostname; do
  echo "$file of the agent" >/etc/.$file.new
  mv /etc/.$file.new /etc/$file
done
echo >>$bosh/starts
while :; do sleep 0.2; done
`;

/** Keeps the agent running, as runit does. */
const INIT = `#!/bin/sh
while :; do /var/vcap/bosh/bin/bosh-agent; sleep 0.2; done
`;

export interface UpstreamStemcell {
  /** Files beside those it has, or in their place; with no text they are left out. */
  readonly texts?: Readonly<Record<string, string | undefined>>;
}

/** The image of a stemcell that behaves as upstream's for Warden do, as a gzipped tar at this path. */
export async function upstreamStemcell(to: string, { texts = {} }: UpstreamStemcell = {}): Promise<string> {
  const all = new Map<string, TarInput>();
  const put = (entry: TarInput) => all.set(entry.name, entry);
  for (const name of [
    "dev",
    "home",
    "proc",
    "root",
    "run",
    "sys",
    "tmp",
    "usr/sbin",
    "var/vcap/store",
    "warden-cpi-dev",
  ])
    put({ type: "directory", name, mode: 0o755 });
  for (const [name, to] of Object.entries({
    bin: "usr/bin",
    sbin: "usr/sbin",
    lib: "usr/lib",
    lib64: "usr/lib64",
  }))
    put({ type: "symlink", name, mode: 0o777, to });
  // Ours does without it.
  const dumpe2fs = (await systemExec("which", ["dumpe2fs"])).stdout.trim();
  const { files } = await hostPrograms(systemExec, [dumpe2fs]);
  put({ type: "file", name: "usr/sbin/dumpe2fs", mode: 0o755, path: await realpath(dumpe2fs) });
  const first = new Map<string, string>();
  for (const { name, path, mode } of files) {
    const same = first.get(path);
    if (same === undefined) put({ type: "file", name, mode, path });
    else put({ type: "symlink", name, mode: 0o777, to: basename(same) });
    first.set(path, same ?? name);
  }
  const given = {
    "etc/hosts": "127.0.0.1 localhost\n",
    "etc/passwd": "root:x:0:0:root:/root:/bin/bash\n",
    "etc/resolv.conf": "nameserver 192.0.2.1\n",
    "usr/sbin/runsvdir-start": INIT,
    "var/vcap/bosh/agent.json": JSON.stringify(WARDEN_AGENT_JSON),
    "var/vcap/bosh/bin/bosh-agent": AGENT,
    "var/vcap/bosh/bin/sync-time": "#!/bin/bash\nchronyc waitsync 10\n",
    ...texts,
  };
  for (const [name, text] of Object.entries(given))
    if (text !== undefined) put({ type: "text", name, mode: 0o755, text });
  for (const name of [...all.keys()].flatMap(parentsOf))
    if (!all.has(name)) put({ type: "directory", name, mode: 0o755 });
  const entries = [...all.values()].sort((one, other) => (one.name < other.name ? -1 : 1));
  await pipeline(tarBytes(entries, 0), createGzip({ level: 1 }), createWriteStream(to));
  return to;
}

const parentsOf = (name: string): readonly string[] => {
  const parts = name.split("/").slice(0, -1);
  return parts.map((_, at) => parts.slice(0, at + 1).join("/"));
};
