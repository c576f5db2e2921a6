import { COMMON, ENDED, MOMENT } from "./common.ts";

/** cid, VM, and the VM it may be taken from, which is known to be gone. Says the device's number. */
export const ATTACH = `${COMMON}
# As far as there is room: what is left of them is no reason not to use the disk.
fill_holes() {
  set -- $(stat -c '%b %s' "$image")
  [ $(($1 * 512)) -ge "$2" ] || allocate "$image" $(($2 / 1048576)) 2>/dev/null || true
}
use "$1"
if [ "$holder" != "$2" ]; then
  [ -z "$holder" ] || [ "$holder" = "\${3:-}" ] || { echo "$holder"; exit ${ENDED.held}; }
  # Nobody may have it mounted, whoever had it before.
  let_go 200 || exit ${ENDED.busy}
  find_device
  [ ! -e "$dir/preallocated" ] || fill_holes
  # Without a loop device it is not attached.
  trap '[ $? = 0 ] || rm -f "$dir/vm"' EXIT
  set_holder "$2"
  give_loop new
else
  find_device
  give_loop
fi
read_text "$sys/dev"
echo "$text"
`;

/** cid, VM. */
export const DETACH = `${COMMON}
use "$1"
[ "$holder" = "$2" ] || exit ${ENDED.notAttached}
let_go ${MOMENT} || exit ${ENDED.busy}
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
    let_go 400 || { echo "$cid"; exit ${ENDED.busy}; }
    rm -f "$dir/vm"
    sync "$dir"
  )
done
`;

/** VM. The cids, one a line. */
export const HELD = `${COMMON}
for at in "$disks"/*/vm; do
  [ -e "$at" ] && [ "$(cat "$at")" = "$1" ] || continue
  name=\${at%/vm}
  echo "\${name##*/}"
done
`;
