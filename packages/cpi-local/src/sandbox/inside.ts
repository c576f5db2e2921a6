/** In a user namespace that knows no user yet. Started again with users, it has all rights there, and none outside. */
export const IDS = `echo ids >&7
read -r helped <&5
[ "$helped" = yes ] || { echo "sandbox: no users" >&2; exit 1; }
exec "$@"
`;

/**
 * In the last mounts, which belong to the user namespace: the kernel lets no process inside take away, move or change any
 * that was made before. The root changes for good: nothing of what was the root before is left.
 */
export const INSIDE = `set -u
exec 8<&-
fail() { echo "sandbox: $*" >&2; exit 1; }
ask() { echo "$1" >&7 && read -r helped <&5 && [ "$helped" = yes ] || fail "no help with $1"; }
ask networks
# With one it could mount the control groups of whoever has started it, and stop processes that are not its own.
limit=/proc/sys/user/max_cgroup_namespaces
# In a container /proc/sys may be read-only; what can be seen then is the container's.
[ ! -e "$limit" ] || { echo 0 > "$limit"; } 2> /dev/null ||
  echo "sandbox: cgroup namespaces cannot be refused to it, since /proc/sys is read-only here" >&2
# A mount that is its own, and so may become the root. Only what is below the root need be within its reach.
mount -n -c --rbind . run/slipway/host && cd -P run/slipway/host || fail "no root"
if pivot_root . run/slipway/host 2> /dev/null; then
  ask host
  ask disks
  exec /bin/sh -c "$@"
fi
# Where the host itself runs in what it was started with, its root cannot be put aside, only covered.
mount -n -c --move . / || fail "the root cannot be changed"
ask disks
exec chroot . /bin/sh -c "$@"
`;

/**
 * The init, at last where the agent is. The agent starts again when it asks for it (0) and when something kills it; 3
 * switches the sandbox off; what else it says would not get better by itself. The end of the init is the end of all. On a
 * full disk the CPI could not read that it is ready: it waits for space, as long as the CPI waits for it.
 */
export const LOOP = `cd /
until echo ready >&6; do sleep 0.2; done 2>/dev/null
exec 5>&- 6>&- 7>&-
while :; do
  "$@"
  code=$?
  [ "$code" -ne 0 ] || continue
  [ "$code" -gt 128 ] || break
  echo "sandbox: something ended the agent ($code); it starts again" >&2
  sleep 1
done
exit "$code"
`;
