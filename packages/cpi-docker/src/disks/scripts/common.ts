/**
 * Exit codes of the scripts that change disks on the engine's host. They run in the disk helper: each is one whole
 * change, under a lock that ends with it, and goes on to its end even if its caller is gone. A disk is a directory
 * with the file that is its content, and the name of the VM that has it. Nothing of the loop devices is written down:
 * the kernel knows.
 *
 * A disk of the pool has the node of a block device in the place of the file, and the device's path beside it. The
 * first MiB of the device says which disk it is; what the VM has begins behind it.
 */
export const ENDED = {
  notFound: 65,
  held: 66,
  busy: 67,
  tooSmall: 68,
  noRoom: 69,
  notAttached: 70,
  /** Says for each device of the pool why it will not do. */
  noDevice: 71,
  /** For disks of the pool: the device is gone, or another one has its path. */
  lost: 72,
  /** For disks of the pool: larger than its device. */
  beyond: 73,
  /** The disk helper may not open devices of this kind. Says the major number. */
  notAllowed: 74,
} as const;

/** How long a mount may take to go after `umount`, in twentieths of a second. */
export const MOMENT = 100;

export const COMMON = `set -eu
root=/slipway
disks=$root/disks
snapshots=$root/snapshots
own=1048576
umask 077
newline='
'

# What a file says, if it is there, as $text. No process is started for it.
read_text() {
  text=
  [ ! -e "$1" ] || IFS= read -r text <"$1" || true
}

disk() {
  cid=$1 dir=$disks/$1 image=$disks/$1/$1.img
  read_text "$dir/device"
  pool=$text
}

use() {
  disk "$1"
  [ -d "$dir" ] || exit ${ENDED.notFound}
  exec 9<"$dir"
  flock 9
  # Deleted while this one waited.
  [ -f "$image" ] || [ -b "$image" ] || exit ${ENDED.notFound}
  read_text "$dir/vm"
  holder=$text
}

# The loop devices of a file. Only if the kernel shows one over a file of that name, which no other disk's has, losetup is
# asked, who compares inodes.
loops() {
  named=
  [ -d /sys/block ] || named=yes
  for at in /sys/block/loop*/loop/backing_file; do
    IFS= read -r behind 2>/dev/null <"$at" || continue
    case $behind in */"\${1##*/}" | */"\${1##*/} (deleted)") named=yes ;; esac
  done
  [ -z "$named" ] || losetup --noheadings --output NAME --associated "$1"
}

# The kernel shows mounted file systems here, whichever namespace they are mounted in.
file_system() {
  for type in ext4 xfs btrfs f2fs; do
    for at in "/sys/fs/$type/\${1#/dev/}" "/sys/fs/$type"/*/devices/"\${1#/dev/}"; do
      [ ! -e "$at" ] || { echo "$type"; return 0; }
    done
  done
  return 1
}
mounted() { file_system "$1" >/dev/null; }

# $loop is the loop device of a disk, made if it has none, as large as what is behind it. $1: it is known to have none.
give_loop() {
  if [ -z "$pool" ]; then
    loop=$(losetup --nooverlap --find --show "$image")
  else
    loop=$(losetup --nooverlap --offset "$own" --find --show "$image")
    # Else everything is in memory twice. Not every device can.
    losetup --direct-io=on "$loop" 2>/dev/null || true
  fi
  # The kernel keeps what somebody has told a loop device, for whoever gets it next.
  sys=/sys/block/\${loop#/dev/}
  read_text "$sys/ro"
  [ "$text" = 0 ] || blockdev --setrw "$loop" 2>/dev/null || true
  [ "\${1:-}" = new ] || losetup --set-capacity "$loop"
  # What its file system does not need any more, and zeros that the kernel writes, would become holes in the file. To be
  # told so takes a device long, also if it knows.
  [ -e "$dir/preallocated" ] || return 0
  read_text "$sys/queue/discard_max_bytes"
  [ "$text" = 0 ] || { echo 0 >"$sys/queue/discard_max_bytes"; } 2>/dev/null || true
}

# Takes the loop device away from a disk. Waits as many twentieths of a second for a mount that is just going: a mount
# namespace that somebody made in that moment has a copy of it until its last process ends.
let_go() {
  patience=$1 turns=0 tries=0
  # What is not known is not taken for none.
  while all=$(loops "$image") || return 1; loop=\${all%%"$newline"*}; [ -n "$loop" ]; do
    if mounted "$loop"; then
      [ "$turns" -lt "$patience" ] || return 1
      turns=$((turns + 1))
    else
      losetup --detach "$loop" || true
      # Somebody has it open: it would go when that ends. Then it stays, as the one who holds it believes.
      [ "$tries" -lt 100 ] || { give_loop; return 1; }
      tries=$((tries + 1))
    fi
    # Most often it is gone at once.
    [ $((turns + tries)) = 1 ] || sleep 0.05
  done
}

put() { printf %s "$2" >"$1.new"; sync "$1.new"; mv "$1.new" "$1"; }
# Cut off in the middle it names nobody, and nobody was told yet that it does.
set_holder() { printf %s "$1" >"$dir/vm"; sync "$dir/vm" "$dir"; }

# What a disk may have, in MiB: a tenth of the volume's file system, at most 1 GiB, stays free.
room() {
  df -Pk "$root" | awk 'NR == 2 { kept = $2 / 10; if (kept > 1048576) kept = 1048576
    left = int(($4 - kept) / 1024); print left < 0 ? 0 : left }'
}

# All the space of a file, which becomes so many MiB large, now: the kernel sets a file system to read-only when what it is
# in cannot grow. Where the volume's file system cannot do it, the C library writes to every block. Images of earlier versions
# have no program for it: then what is new is written, and holes stay.
allocate() {
  had=$(($(stat -c %s "$1") / 1048576)) missing=$(($2 - $(stat -c %b "$1") / 2048))
  [ "$missing" -gt 0 ] || [ "$2" -gt "$had" ] || return 0
  [ "$missing" -le "$(room)" ] || return ${ENDED.noRoom}
  code=0
  if command -v fallocate >/dev/null; then said=$(fallocate --posix --length "$2M" "$1" 2>&1) || code=$?
  else said=$(dd if=/dev/zero of="$1" bs=1M seek="$had" count=$(($2 - had)) conv=notrunc 2>&1) || code=$?; fi
  [ "$code" != 0 ] || return 0
  truncate -s "\${had}M" "$1"
  case $said in *"No space left"* | *quota*) return ${ENDED.noRoom} ;; esac
  echo "$said" >&2
  return 1
}

# The same or the end of the script, after what else is to be done then.
must_allocate() {
  code=0
  allocate "$1" "$2" || code=$?
  [ "$code" != 0 ] || return 0
  shift 2
  "$@"
  [ "$code" != ${ENDED.noRoom} ] || room
  exit "$code"
}

number() { set -- $(stat -L -c '0x%t 0x%T' "$1"); echo "$(($1)):$(($2))"; }
bytes() { echo $(($(cat "/sys/dev/block/$(number "$1")/size") * 512)); }

may_open() {
  said=$(dd if="$1" of=/dev/null bs=512 count=1 2>&1) && return 0
  case $said in *"not permitted"*) number "$1"; exit ${ENDED.notAllowed} ;; esac
  return 1
}

stamp() { dd if="$1" bs=512 count=1 2>/dev/null | tr -d '\\0'; }
set_stamp() { printf %s "$2" | dd of="$1" bs=512 count=1 conv=sync,notrunc,fsync 2>/dev/null; }

# Before a disk of the pool is used: numbers of devices are others after a restart of the host. It is the right device if
# it says so itself.
find_device() {
  [ -n "$pool" ] && [ -z "$(loops "$image")" ] || return 0
  [ -b "$pool" ] || { echo "there is no $pool"; exit ${ENDED.lost}; }
  may_open "$pool" || { echo "$pool cannot be read: $said"; exit ${ENDED.lost}; }
  [ "$(stamp "$pool")" = "slipway $cid" ] || { echo "$pool is another device now"; exit ${ENDED.lost}; }
  [ "$(number "$image")" != "$(number "$pool")" ] || return 0
  rm -f "$image.new"
  mknod -m 0600 "$image.new" b $(number "$pool" | tr : ' ')
  mv "$image.new" "$image"
  sync "$dir"
}

# A disk that was deleted: all of its device becomes zeros, what it says of itself last. No device that says otherwise.
wipe() {
  node=$(ls "$1"/*.img) size=$(bytes "$1"/*.img) name=\${1##*/.}
  [ "$(stamp "$node")" = "slipway \${name%.deleted}" ]
  # Some devices can do it themselves.
  blkdiscard --zeroout --offset "$own" "$node" 2>/dev/null ||
    dd if=/dev/zero of="$node" bs=1M iflag=count_bytes oflag=seek_bytes seek="$own" count=$((size - own)) conv=notrunc,fsync
  dd if=/dev/zero of="$node" bs="$own" count=1 conv=notrunc,fsync
  rm -rf "$1"
}
`;
