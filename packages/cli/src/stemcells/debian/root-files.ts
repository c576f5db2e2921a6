import { GROUPS, type ImageFile, imageFiles, PLACES } from "@slipway/cpi-docker/image-files";
import { officialLines } from "./sources.ts";

/** Returns the files that replace or extend Debian's. `agent` and `node` are files of this machine. */
export const overDebian = (order: {
  readonly suite: string;
  readonly agent: string;
  readonly node: string;
}): readonly ImageFile[] => [
  // Not this machine's own sources, which may be a mirror that only it reaches.
  { name: "etc/apt/sources.list", mode: 0o644, text: `${officialLines(order.suite).join("\n")}\n` },
  ...imageFiles(order),
];

const groups = Object.entries(GROUPS).map(([name, gid]) => `${name}:${gid}`);
const others = Object.keys(GROUPS).filter((name) => name !== "vcap");

/** Runs last, with the root as its argument: users, and nothing of this machine or of the time. */
export const FINISH = `set -eu
cd "$1"
umask 022
chmod 755 usr/lib/slipway usr/local/bin usr/local/sbin var/vcap var/vcap/bosh var/vcap/bosh/bin
ln -s ../../lib/slipway/slipway-agent.cjs usr/local/bin/slipway-agent
# A package may have taken a number of the system's range, 999 downwards; only that of vcap has to be as it is.
has() { cut -d: -f"$1" etc/group | grep -qx "$2"; }
for group in ${groups.join(" ")}; do
  name=\${group%:*} gid=\${group#*:}
  if has 1 "$name"; then continue; fi
  if [ "$name" != vcap ] && has 3 "$gid"; then chroot . groupadd --system "$name"
  else chroot . groupadd --gid "$gid" "$name"
  fi
done
chroot . useradd --uid 1000 --gid vcap --groups ${others.join(",")} --create-home --shell /bin/bash vcap
if [ -d etc/sudoers.d ]; then
  echo '%bosh_sudoers ALL=(ALL) NOPASSWD: ALL' >etc/sudoers.d/bosh_sudoers
  chmod 440 etc/sudoers.d/bosh_sudoers
fi
if [ -d etc/ssh/sshd_config.d ]; then
  printf '%s\\n' 'PasswordAuthentication no' 'PermitRootLogin no' 'AllowGroups bosh_sshers' >etc/ssh/sshd_config.d/slipway.conf
fi
rm -f etc/hostname etc/resolv.conf etc/apt/apt.conf.d/99mmdebstrap etc/ssh/ssh_host_*
rm -f etc/passwd- etc/group- etc/shadow- etc/gshadow- etc/subuid- etc/subgid-
rm -f var/cache/debconf/*-old var/lib/dpkg/*-old
rm -rf var/cache/ldconfig/aux-cache var/lib/apt/lists/* var/cache/apt/*.bin
find var/log -type f -delete
# With a flag for Node.js the agent writes no code cache, whose bytes differ each time.
chroot . /${PLACES.node} --no-warnings /${PLACES.agent} --version >/dev/null || {
  echo "E: the Node.js that runs slipway does not run in this root; take one from nodejs.org" >&2
  exit 1
}
`;
