import { COMMON, ENDED } from "./common.ts";

/** Tests whether this image (else `notFound`) and this engine can work on disks at all. */
export const PROBE = `set -eu
for program in flock losetup truncate fsfreeze awk sync cp mv stat; do
  command -v "$program" >/dev/null || { echo "it has no $program" >&2; exit ${ENDED.notFound}; }
done
losetup --help | grep -q nooverlap || { echo "its losetup is not that of util-linux" >&2; exit ${ENDED.notFound}; }
probe=/slipway/.probe-$$
trap 'rm -f "$probe"' EXIT
truncate -s 1M "$probe"
loop=$(losetup --find --show "$probe")
losetup --detach "$loop"
`;

/**
 * Main process of the disk helper. After a restart of the host the loop devices of attached disks are gone, and come
 * back here; the agents wait for them. A file system that stood still for a snapshot when the disk helper was killed
 * goes on, and a device that was being wiped is wiped.
 */
export const BOOT = `${COMMON}
# To tell loop devices what they may do.
mount -o remount,rw /sys 2>/dev/null || true
mkdir -p "$disks" "$snapshots"
for at in "$disks"/*/vm; do
  [ -s "$at" ] || continue
  (
    name=\${at%/vm}
    use "\${name##*/}"
    find_device
    give_loop
    mounted "$loop" || exit 0
    mkdir -p "$root/.thaw"
    mount -n "$loop" "$root/.thaw"
    fsfreeze --unfreeze "$root/.thaw" 2>/dev/null || true
    umount -n "$root/.thaw"
  ) &
  # Not as part of a condition: there, the shell would go on after what fails.
  wait $! || true
done
# Only if nothing is mounted there: a script may be at work already.
rmdir "$root"/.still-* "$root"/.grow-* 2>/dev/null || true
for gone in "$disks"/.*.deleted; do
  [ -e "$gone/device" ] || continue
  (
    exec 9<"$gone"
    flock 9
    device=$(cat "$gone/device")
    may_open "$device"
    name=\${gone##*/.}
    case $(stamp "$device") in
      "slipway \${name%.deleted}")
        rm -f "$gone"/*.img
        mknod -m 0600 "$gone/disk.img" b $(number "$device" | tr : ' ')
        wipe "$gone"
        ;;
      "") rm -rf "$gone" ;;
    esac
  ) &
done
trap 'exit 0' TERM
while :; do
  sleep 86400 &
  wait $!
done
`;
