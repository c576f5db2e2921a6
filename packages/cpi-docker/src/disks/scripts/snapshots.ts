import { COMMON, ENDED } from "./common.ts";

/**
 * Disk, snapshot, record. A mounted file system stands still while its file is copied. It is the same one, whoever
 * mounts it, so that this can be done from here.
 */
export const SNAPSHOT = `${COMMON}
use "$1"
[ ! -d "$snapshots/$2" ] || exit 0
find_device
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
  sync $loop "$image"
fi
copy() {
  if [ -z "$pool" ]; then
    # What a copy shares with a disk is allocated anew when the disk is written to.
    [ -e "$dir/preallocated" ] && reflink=never || reflink=auto
    cp --reflink="$reflink" --sparse=always "$image" "$1"
  else
    dd if="$image" of="$1" bs="$own" skip=1 conv=sparse
  fi
}
copy "$new/$2.img" || { rm -rf "$new"; exit ${ENDED.noRoom}; }
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
