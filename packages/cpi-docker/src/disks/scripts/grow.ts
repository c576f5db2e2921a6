import { COMMON, ENDED, MOMENT } from "./common.ts";

/**
 * cid, MiB. Attached or not, mounted or not. Killed anywhere, it is finished by the repeat, and the loop device also by
 * the next attach. The file system is the same one, whoever mounts it, so that it can grow from here; where that does not
 * work, says why, and it grows when it is mounted the next time.
 */
export const GROW = `${COMMON}
use "$1"
[ -n "$holder" ] || let_go ${MOMENT} || exit ${ENDED.busy}
if [ -n "$pool" ]; then
  find_device
  before=$(cat "$dir/size")
else
  before=$(($(stat -c %s "$image") / 1048576))
fi
[ "$2" -ge "$before" ] || { echo "$before"; exit ${ENDED.tooSmall}; }
if [ -n "$pool" ]; then
  room=$((($(bytes "$image") - own) / 1048576))
  [ "$2" -le "$room" ] || { echo "$room"; exit ${ENDED.beyond}; }
  put "$dir/size" "$2"
else
  [ ! -e "$dir/preallocated" ] || must_allocate "$image" "$2" :
  truncate -s "$2M" "$image"
  sync "$image"
fi
loop=$(loops "$image" | head -n 1)
[ -n "$loop" ] || exit 0
losetup --set-capacity "$loop"
type=$(file_system "$loop") || exit 0
later() { echo "$type: $1" | head -c 300 | tr '\\n' ' '; exit 0; }
at=$root/.grow-$cid
mkdir -p "$at"
said=$(mount -n -o nosuid,nodev,noexec "$loop" "$at" 2>&1) || later "$said"
trap 'umount -n "$at"; rmdir "$at"' EXIT
case $type in
  ext4) said=$(resize2fs "$loop" 2>&1) || later "$said" ;;
  xfs) said=$(xfs_growfs -d "$at" 2>&1) || later "$said" ;;
  *) later "it is not known here how it grows" ;;
esac
`;
