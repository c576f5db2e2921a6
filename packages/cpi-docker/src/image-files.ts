/** Paths in an image that our CPI makes VMs of, without a leading slash. */
const AGENT = "usr/lib/slipway/slipway-agent.cjs";
const NODE = "usr/local/bin/node";
const POWER = "var/lib/slipway/power";
const SETTINGS = "var/vcap/bosh/warden-cpi-agent-env.json";
export const PLACES = { agent: AGENT, node: NODE, power: POWER, settings: SETTINGS } as const;

/** Whole disks: partitions of loop devices have no nodes in a container. Upstream's CPI gives directories instead. */
const AGENT_JSON = {
  Platform: { Linux: { SkipDiskSetup: true, UseWholePersistentDisk: true, BindMountPersistentDisk: true } },
  Infrastructure: { Settings: { Sources: [{ Type: "File", SettingsPath: `/${SETTINGS}` }] } },
};

/**
 * Starts the agent again when it asks for it (0) or ends in any other way; 3 and `shutdown` switch off, until the CPI
 * writes otherwise. Works as process 1 too, where the shell reaps orphans.
 */
const INIT = `#!/bin/sh
power=/${POWER}
running=
# Its number is in $! from the moment it begins.
stop() {
  trap '' TERM INT
  [ -z "$running" ] || [ -z "$!" ] || { kill -TERM "$!" 2>/dev/null; wait "$!"; }
  exit 0
}
trap stop TERM INT
cd /
umask 022
mkdir -p "\${power%/*}"
# Upstream's CPI may have made it a link to what a systemd would have written.
[ -e /etc/resolv.conf ] || rm -f /etc/resolv.conf
off() { [ "$(cat "$power" 2>/dev/null)" = off ]; }
if [ -x /usr/sbin/sshd ] && ! off; then
  mkdir -p /run/sshd && ssh-keygen -A >/dev/null && /usr/sbin/sshd || echo "init: no sshd" >&2
fi
while :; do
  running=yes
  if off; then sleep 86400 &
  else /${NODE} /${AGENT} --platform linux &
  fi
  wait "$!"
  code=$?
  running=
  case $code in
    0) ;;
    3) echo off >"$power" ;;
    *) echo "init: the agent ended with $code; it starts again" >&2; sleep 1 ;;
  esac
done
`;

/** Init at the path where upstream's Docker CPI looks for one, which it gives no environment. */
const RUNIT = `#!/bin/sh
export PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
exec /usr/sbin/init
`;

/** Upstream's Docker CPI changes it before it starts a VM, and needs it for that. The clock is the host's. */
const SYNC_TIME = `#!/bin/sh
exit 0
`;

/** Everything ends, the container with it; started again by its policy, it stays off. */
const SHUTDOWN = `#!/bin/sh
echo off >/${POWER}
kill -KILL -1
kill -TERM 1
`;

export type ImageFile = {
  readonly name: string;
  readonly mode: number;
} & ({ readonly text: string } | { readonly path: string });

/** Returns the files of every image besides an operating system. `agent` and `node` are files of this machine. */
export const imageFiles = (order: {
  readonly agent: string;
  readonly node: string;
}): readonly ImageFile[] => [
  { name: AGENT, mode: 0o755, path: order.agent },
  { name: NODE, mode: 0o755, path: order.node },
  // `sbin` itself is a link.
  { name: "usr/local/sbin/shutdown", mode: 0o755, text: SHUTDOWN },
  { name: "usr/sbin/init", mode: 0o755, text: INIT },
  { name: "usr/sbin/runsvdir-start", mode: 0o755, text: RUNIT },
  { name: "var/vcap/bosh/agent.json", mode: 0o644, text: `${JSON.stringify(AGENT_JSON)}\n` },
  { name: "var/vcap/bosh/bin/sync-time", mode: 0o755, text: SYNC_TIME },
];

/** Its groups: name and number. The user `vcap` is in all of them. */
export const GROUPS = { vcap: 1000, admin: 999, bosh_sudoers: 998, bosh_sshers: 997 } as const;

/**
 * 1980: no time of a build gets into an image, and nothing is older than what zip can write. As a day it is also the
 * last change of passwords, where 0 would mean that they must be changed at once.
 */
export const EPOCH = 315_619_200;
