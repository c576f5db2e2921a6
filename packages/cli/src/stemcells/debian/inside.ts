import { officialLines } from "./sources.ts";

/** Where things are in the image; the Docker CPI and its docs speak of the same places. */
const AGENT = "usr/lib/slipway/slipway-agent.cjs";
const NODE = "usr/local/bin/node";

/**
 * 1980: no time of a build gets into the image, and nothing is older than what zip can write. As a day it is also the
 * last change of passwords, where 0 would mean that they must be changed at once.
 */
export const EPOCH = 315_619_200;

/** Whole disks: partitions of loop devices have no nodes in a container. */
const AGENT_JSON = {
  Platform: { Linux: { SkipDiskSetup: true, UseWholePersistentDisk: true } },
  Infrastructure: {
    Settings: { Sources: [{ Type: "File", SettingsPath: "/var/vcap/bosh/warden-cpi-agent-env.json" }] },
  },
};

/**
 * The agent starts again when it asks for it (0) or ends in any other way; 3 and `shutdown` switch off, until whoever
 * made the VM writes otherwise. Works as process 1 too, where the shell reaps orphans.
 */
const INIT = `#!/bin/sh
power=/var/lib/slipway/power
child=
stop() {
  trap '' TERM INT
  [ -z "$child" ] || { kill -TERM "$child" 2>/dev/null; wait "$child"; }
  exit 0
}
trap stop TERM INT
cd /
umask 022
mkdir -p /var/lib/slipway
off() { [ "$(cat "$power" 2>/dev/null)" = off ]; }
if [ -x /usr/sbin/sshd ] && ! off; then
  mkdir -p /run/sshd && ssh-keygen -A >/dev/null && /usr/sbin/sshd || echo "init: no sshd" >&2
fi
while :; do
  if off; then sleep 86400 &
  else /${NODE} /${AGENT} --platform linux &
  fi
  child=$!
  wait "$child"
  code=$?
  child=
  case $code in
    0) ;;
    3) echo off >"$power" ;;
    *) echo "init: the agent ended with $code; it starts again" >&2; sleep 1 ;;
  esac
done
`;

/** Everything ends, the container with it; started again by its policy, it stays off. */
const SHUTDOWN = `#!/bin/sh
echo off >/var/lib/slipway/power
kill -KILL -1
kill -TERM 1
`;

export type InsideFile = {
  readonly name: string;
  readonly mode: number;
} & ({ readonly text: string } | { readonly path: string });

/** What is put over Debian's files. `agent` and `node` are files of this machine. */
export const insideFiles = (order: {
  readonly suite: string;
  readonly agent: string;
  readonly node: string;
}): readonly InsideFile[] => [
  // Not this machine's own, which may be a mirror that nobody else reaches.
  { name: "etc/apt/sources.list", mode: 0o644, text: `${officialLines(order.suite).join("\n")}\n` },
  { name: AGENT, mode: 0o755, path: order.agent },
  { name: NODE, mode: 0o755, path: order.node },
  // `sbin` itself is a link.
  { name: "usr/local/sbin/shutdown", mode: 0o755, text: SHUTDOWN },
  { name: "usr/sbin/init", mode: 0o755, text: INIT },
  { name: "var/vcap/bosh/agent.json", mode: 0o644, text: `${JSON.stringify(AGENT_JSON)}\n` },
];

/** Runs last, with the root as its argument: users, and nothing of this machine or of the time. */
export const FINISH = `set -eu
cd "$1"
umask 022
chmod 755 usr/lib/slipway usr/local/bin usr/local/sbin var/vcap var/vcap/bosh
ln -s ../../lib/slipway/slipway-agent.cjs usr/local/bin/slipway-agent
for group in vcap:1000 admin:999 bosh_sudoers:998 bosh_sshers:997; do
  chroot . groupadd --gid "\${group#*:}" "\${group%:*}"
done
chroot . useradd --uid 1000 --gid vcap --groups admin,bosh_sudoers,bosh_sshers --create-home --shell /bin/bash vcap
if [ -d etc/sudoers.d ]; then
  echo '%bosh_sudoers ALL=(ALL) NOPASSWD: ALL' >etc/sudoers.d/bosh_sudoers
  chmod 440 etc/sudoers.d/bosh_sudoers
fi
rm -f etc/hostname etc/resolv.conf etc/apt/apt.conf.d/99mmdebstrap etc/ssh/ssh_host_*
rm -f etc/passwd- etc/group- etc/shadow- etc/gshadow- etc/subuid- etc/subgid-
rm -f var/cache/debconf/*-old var/lib/dpkg/*-old
rm -rf var/cache/ldconfig/aux-cache var/lib/apt/lists/* var/cache/apt/*.bin
find var/log -type f -delete
chroot . /${NODE} /${AGENT} --version >/dev/null || {
  echo "E: the Node.js that runs slipway does not run in this root; take one from nodejs.org" >&2
  exit 1
}
`;
