/**
 * What is done to disks on the engine's host, as scripts that run in the keeper: each is one whole change, under a lock
 * that ends with it, and goes on to its end when whoever asked for it is gone. A disk is a directory with the file that
 * is its content, and the name of the VM that has it. Nothing of the loop devices is written down: the kernel knows.
 */
export const ENDED = {
  notFound: 65,
  held: 66,
  busy: 67,
  tooSmall: 68,
  noRoom: 69,
  notAttached: 70,
} as const;

const COMMON = `set -eu
root=/slipway
disks=$root/disks
snapshots=$root/snapshots
umask 077

use() {
  cid=$1 dir=$disks/$1 image=$disks/$1/$1.img
  [ -d "$dir" ] || exit ${ENDED.notFound}
  exec 9<"$dir"
  flock 9
  # Deleted while this one waited.
  [ -f "$image" ] || exit ${ENDED.notFound}
  holder=$(cat "$dir/vm" 2>/dev/null || true)
}

loops() { losetup --noheadings --output NAME --associated "$1"; }

# The kernel shows mounted file systems here, whichever namespace they are mounted in.
mounted() {
  for type in ext4 xfs btrfs f2fs; do [ ! -e "/sys/fs/$type/\${1#/dev/}" ] || return 0; done
  return 1
}

# Takes the loop device away from a file. Waits as many twentieths of a second for a mount that is just going.
let_go() {
  file=$1 patience=$2 turns=0
  while loop=$(loops "$file" | head -n 1); [ -n "$loop" ]; do
    if mounted "$loop"; then
      [ "$turns" -lt "$patience" ] || return 1
    else
      losetup --detach "$loop" || true
      # Somebody has it open: it would go when that ends. Then it stays, as the one who holds it believes.
      [ "$turns" -lt 100 ] || { losetup --nooverlap --find --show "$file" >/dev/null; return 1; }
    fi
    turns=$((turns + 1))
    sleep 0.05
  done
}

set_holder() { printf %s "$1" >"$dir/vm.new"; sync "$dir/vm.new"; mv "$dir/vm.new" "$dir/vm"; sync "$dir"; }

mebibytes() { df -Pk "$root" | awk 'NR == 2 { print int($4 / 1024) }'; }
`;

/** cid, MiB, record. */
export const CREATE = `${COMMON}
mkdir -p "$disks" "$snapshots"
exec 9<"$disks"
flock 9
[ ! -d "$disks/$1" ] || exit 0
free=$(mebibytes)
[ "$2" -le "$free" ] || { echo "$free"; exit ${ENDED.noRoom}; }
new=$disks/.$1.new
rm -rf "$new"
mkdir "$new"
printf %s "$3" >"$new/record.json"
truncate -s "$2M" "$new/$1.img"
sync "$new/$1.img" "$new/record.json"
mv -T "$new" "$disks/$1"
sync "$disks"
`;

/** cid, VM, and the VM it may be taken from, which is known to be gone. Says the device's number. */
export const ATTACH = `${COMMON}
use "$1"
if [ "$holder" != "$2" ]; then
  [ -z "$holder" ] || [ "$holder" = "\${3:-}" ] || { echo "$holder"; exit ${ENDED.held}; }
  # Nobody may have it mounted, whoever had it before.
  let_go "$image" 200 || exit ${ENDED.busy}
  set_holder "$2"
fi
loop=$(losetup --nooverlap --find --show "$image")
cat "/sys/block/\${loop#/dev/}/dev"
`;

/** cid, VM. */
export const DETACH = `${COMMON}
use "$1"
[ "$holder" = "$2" ] || exit ${ENDED.notAttached}
let_go "$image" 0 || exit ${ENDED.busy}
rm -f "$dir/vm"
sync "$dir"
`;

/** A VM that is gone: its mounts go with its last process, which may take a moment. */
export const RELEASE = `${COMMON}
[ -d "$disks" ] || exit 0
for at in "$disks"/*/vm; do
  [ -e "$at" ] && [ "$(cat "$at")" = "$1" ] || continue
  (
    name=\${at%/vm}
    use "\${name##*/}"
    [ "$holder" = "$1" ] || exit 0
    let_go "$image" 400 || { echo "$cid"; exit ${ENDED.busy}; }
    rm -f "$dir/vm"
    sync "$dir"
  )
done
`;

/** cid, MiB. */
export const GROW = `${COMMON}
use "$1"
[ -z "$holder" ] || { echo "$holder"; exit ${ENDED.held}; }
let_go "$image" 0 || exit ${ENDED.busy}
before=$(( $(stat -c %s "$image") / 1048576 ))
[ "$2" -ge "$before" ] || { echo "$before"; exit ${ENDED.tooSmall}; }
free=$(mebibytes)
[ $(($2 - before)) -le "$free" ] || { echo "$free"; exit ${ENDED.noRoom}; }
truncate -s "$2M" "$image"
sync "$image"
`;

/** cid. First out of sight, so that a crash leaves nothing that looks whole. */
export const DELETE = `${COMMON}
rm -rf "$disks/.$1.new" "$disks/.$1.deleted"
use "$1"
[ -z "$holder" ] || { echo "$holder"; exit ${ENDED.held}; }
let_go "$image" 0 || exit ${ENDED.busy}
mv -T "$dir" "$disks/.$1.deleted"
sync "$disks"
rm -rf "$disks/.$1.deleted"
`;

/** cid. */
export const HAS = `${COMMON}
[ -f "$disks/$1/$1.img" ] || exit ${ENDED.notFound}
`;

/** VM. The cids, one a line. */
export const HELD = `${COMMON}
for at in "$disks"/*/vm; do
  [ -e "$at" ] && [ "$(cat "$at")" = "$1" ] || continue
  name=\${at%/vm}
  echo "\${name##*/}"
done
`;

/**
 * Disk, snapshot, record. A mounted file system stands still while its file is copied. It is the same one, whoever
 * mounts it, so that this can be done from here.
 */
export const SNAPSHOT = `${COMMON}
use "$1"
[ ! -d "$snapshots/$2" ] || exit 0
new=$snapshots/.$2.new
still=$root/.still-$2
mkdir -p "$snapshots"
rm -rf "$new"
mkdir "$new"
printf %s "$3" >"$new/record.json"
loop=$(loops "$image" | head -n 1)
if [ -n "$loop" ] && mounted "$loop"; then
  mkdir -p "$still"
  mount -n "$loop" "$still"
  trap 'fsfreeze --unfreeze "$still" || true; umount -n "$still"; rmdir "$still"' EXIT
  fsfreeze --freeze "$still"
else
  sync "$image"
fi
cp --reflink=auto --sparse=always "$image" "$new/$2.img" || { rm -rf "$new"; exit ${ENDED.noRoom}; }
sync "$new/$2.img"
mv -T "$new" "$snapshots/$2"
`;

/** Snapshot. */
export const DELETE_SNAPSHOT = `${COMMON}
rm -rf "$snapshots/.$1.new" "$snapshots/.$1.deleted"
[ -d "$snapshots/$1" ] || exit 0
mv -T "$snapshots/$1" "$snapshots/.$1.deleted"
rm -rf "$snapshots/.$1.deleted"
`;

/** cid: what was put beside it becomes its description. */
export const DESCRIBE = `${COMMON}
use "$1"
mv "$root/.described-$1" "$dir/metadata.json"
`;

/** Whether this image (else `notFound`) and this engine can work on disks at all. */
export const PROBE = `set -eu
for program in flock losetup truncate fsfreeze awk sync cp mv stat; do
  command -v "$program" >/dev/null || { echo "it has no $program" >&2; exit ${ENDED.notFound}; }
done
losetup --help | grep -q nooverlap || { echo "its losetup is not that of util-linux" >&2; exit ${ENDED.notFound}; }
losetup --find
`;

/**
 * What the keeper runs. After a restart of the host the loop devices of attached disks are gone, and come back here; the
 * agents wait for them. A file system that stood still for a snapshot when the keeper was killed goes on.
 */
export const BOOT = `${COMMON}
mkdir -p "$disks" "$snapshots"
for at in "$disks"/*/vm; do
  [ -e "$at" ] || continue
  name=\${at%/vm}
  image=$name/\${name##*/}.img
  [ -f "$image" ] || continue
  loop=$(losetup --nooverlap --find --show "$image") || continue
  mounted "$loop" || continue
  mkdir -p "$root/.thaw"
  mount -n "$loop" "$root/.thaw" || continue
  fsfreeze --unfreeze "$root/.thaw" 2>/dev/null || true
  umount -n "$root/.thaw"
done
rm -rf "$root"/.still-*
trap 'exit 0' TERM
while :; do
  sleep 86400 &
  wait $!
done
`;
