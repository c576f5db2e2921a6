import { COMMON, ENDED, MOMENT } from "./common.ts";

/** cid, MiB, record, provisioning. */
export const CREATE = `${COMMON}
mkdir -p "$disks" "$snapshots"
exec 9<"$disks"
flock 9
[ ! -d "$disks/$1" ] || exit 0
new=$disks/.$1.new
rm -rf "$new"
mkdir "$new"
printf %s "$3" >"$new/record.json"
if [ "$4" = preallocated ]; then
  : >"$new/preallocated"
  : >"$new/$1.img"
  must_allocate "$new/$1.img" "$2" rm -rf "$new"
else truncate -s "$2M" "$new/$1.img"; fi
sync "$new/$1.img" "$new/record.json"
mv -T "$new" "$disks/$1"
sync "$disks"
`;

/** cid. First out of sight, so that a crash leaves nothing that looks whole. */
export const DELETE = `${COMMON}
gone=$disks/.$1.deleted
# What has a device is left to those who know what becomes of it.
for left in "$disks/.$1.new" "$gone"; do [ -e "$left/device" ] || rm -rf "$left"; done
use "$1"
[ -z "$holder" ] || { echo "$holder"; exit ${ENDED.held}; }
let_go ${MOMENT} || exit ${ENDED.busy}
code=0
(find_device) &
# Not as part of a condition: there, the shell would go on after what fails.
wait $! || code=$?
[ "$code" = 0 ] || [ "$code" = ${ENDED.lost} ] || exit "$code"
mv -T "$dir" "$gone"
sync "$disks"
# A device that is gone cannot be wiped. Should it come back, it says whose it was, and no disk is made on it.
[ -n "$pool" ] && [ "$code" = 0 ] || { rm -rf "$gone"; exit 0; }
# This may take hours. Nobody waits for it that long; a disk helper that is killed goes on when it starts.
(wipe "$gone") >/dev/null 2>&1 &
turns=0
while [ -d "$gone" ] && [ "$turns" -lt 200 ]; do turns=$((turns + 1)); sleep 0.05; done
`;

/** cid. */
export const HAS = `${COMMON}
[ -f "$disks/$1/$1.img" ] || [ -b "$disks/$1/$1.img" ] || exit ${ENDED.notFound}
`;

/** For each, on a line with tabs: cid, bytes (none of a device), the VM that has it, its description. */
export const LIST = `${COMMON}
[ -d "$disks" ] || exit 0
for dir in "$disks"/*/; do
  name=\${dir%/}
  disk "\${name##*/}"
  [ -f "$image" ] || [ -b "$image" ] || continue
  size=
  [ ! -f "$image" ] || size=$(stat -c %s "$image")
  told=
  [ ! -e "$dir/metadata.json" ] || told=$(tr -d '\\n\\t' <"$dir/metadata.json")
  read_text "$dir/vm"
  printf '%s\\t%s\\t%s\\t%s\\n' "$cid" "$size" "$text" "$told"
done
`;

/** cid: what was put beside it becomes its description. */
export const DESCRIBE = `${COMMON}
use "$1"
mv "$root/.described-$1" "$dir/metadata.json"
`;

/** cid, provisioning. Space that a disk has is not taken from it: a thin one only need not have all. */
export const PROVISION = `${COMMON}
use "$1"
[ -z "$pool" ] || exit 0
if [ "$2" = thin ]; then rm -f "$dir/preallocated"
else
  command -v fallocate >/dev/null || { echo "the disk helper's image has no fallocate" >&2; exit 1; }
  must_allocate "$image" $(($(stat -c %s "$image") / 1048576)) :
  : >"$dir/preallocated"
fi
sync "$dir"
`;

/** cid: of which kind it is. */
export const KIND = `${COMMON}
use "$1"
[ -n "$pool" ] && echo device || echo file
`;
