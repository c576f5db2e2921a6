import { COMMON, ENDED } from "./common.ts";

/**
 * cid, MiB, record, devices. Takes the smallest device that is large enough and certainly unused: no disk has it,
 * nothing on the host uses it, and it has only zeros wherever we looked, which is where agents look. Says otherwise for
 * each one what there is. Nothing is written before that is known.
 */
export const CREATE_ON_DEVICE = `${COMMON}
for program in blkid cut head ls md5sum mke2fs mknod readlink sort tr; do
  command -v "$program" >/dev/null || { echo "the disk helper's image has no $program" >&2; exit 1; }
done
mkdir -p "$disks" "$snapshots"
exec 9<"$disks"
flock 9
[ ! -d "$disks/$1" ] || exit 0
cid=$1 mib=$2 record=$3
shift 3

same() { [ -b "$1" ] && [ -b "$2" ] && [ "$(number "$1")" = "$(number "$2")" ]; }

# Of a disk that was never whole: its maker was killed.
for left in "$disks"/.*.new; do
  [ -e "$left/device" ] || continue
  device=$(cat "$left/device") name=\${left##*/.}
  [ -b "$device" ] && may_open "$device" || continue
  [ "$(stamp "$device")" != "slipway \${name%.new}" ] || dd if=/dev/zero of="$device" bs=512 count=1 conv=notrunc,fsync 2>/dev/null
  rm -rf "$left"
done

claim() {
  for at in "$disks"/*/device "$disks"/.*.deleted/device "$disks"/.*.new/device; do
    [ -e "$at" ] || continue
    device=$(cat "$at") name=\${at%/device}
    [ "$device" = "$1" ] || same "$device" "$1" || continue
    case $name in
      */.*.deleted) echo "its disk was deleted, and it is being wiped" ;;
      *) echo "is \${name##*/}" ;;
    esac
    return
  done
}

sum() { md5sum | cut -d ' ' -f 1; }
zeros() {
  [ "$(dd if="$1" bs=64k iflag=skip_bytes,count_bytes skip="$2" count="$3" 2>/dev/null | sum)" = \\
    "$(head -c "$3" /dev/zero | sum)" ]
}

blank() {
  size=$(bytes "$1") || return 1
  edge=$((4 * own)) sample=65536
  [ "$size" -gt $((own + 2 * edge)) ] || { zeros "$1" 0 "$size"; return; }
  zeros "$1" 0 $((own + edge)) && zeros "$1" $((size - edge)) "$edge" || return 1
  # Where btrfs and ext4 have their second superblocks.
  for at in $((65 * own)) $((129 * own)); do
    [ $((at + sample)) -gt "$size" ] || zeros "$1" "$at" "$sample" || return 1
  done
  step=$(((size - own) / 65 / 4096 * 4096)) n=1
  while [ "$n" -le 64 ]; do
    zeros "$1" $((own + n * step)) "$sample" || return 1
    n=$((n + 1))
  done
}

why_not() {
  owner=$(claim "$1")
  [ -z "$owner" ] || { echo "$owner"; return; }
  sys=$(readlink -f "/sys/dev/block/$(number "$1")")
  ! mounted "\${sys##*/}" || { echo "is mounted on the host"; return; }
  [ "$(cat "$sys/ro")" = 0 ] || { echo "is read-only"; return; }
  [ -z "$(ls "$sys/holders" 2>/dev/null)" ] || { echo "is a part of $(ls "$sys/holders" | head -n 1)"; return; }
  ! ls "$sys"/*/partition >/dev/null 2>&1 || { echo "has partitions"; return; }
  found=$(stamp "$1")
  case $found in "slipway "*) echo "says that it is \${found#slipway } of another volume"; return ;; esac
  code=0
  found=$(blkid -p -o export "$1") || code=$?
  if [ "$code" != 2 ]; then
    found=$(echo "$found" | awk -F= '/^(PT)?TYPE=/ { print $2 }' | tr '\\n' ' ')
    echo "has content: \${found:-signatures of several kinds}"
    return
  fi
  # -n: it changes nothing, and is the one program that asks the kernel whether anybody has claimed the device.
  said=$(mke2fs -n "$1" 2>&1) || { echo "is in use: $said" | tr '\\n' ' '; return; }
  blank "$1" || echo "has content of no known kind"
}

fitting= small=
for path; do
  if [ ! -b "$path" ] || ! may_open "$path"; then
    small="$small$path is no block device that can be read
"
  elif [ $(($(bytes "$path") / own - 1)) -lt "$mib" ]; then
    small="$small$path has only $(($(bytes "$path") / own - 1)) MiB for a disk
"
  else
    fitting="$fitting$(bytes "$path") $path
"
  fi
done
taken=
for path in $(printf %s "$fitting" | sort -n | cut -d ' ' -f 2); do
  # Against a disk helper of another volume, to the end of this script.
  exec 8<"$path"
  flock --wait 10 8 || { echo "$path is locked by somebody"; continue; }
  why=$(why_not "$path")
  [ -n "$why" ] || { taken=$path; break; }
  echo "$path $why"
done
[ -n "$taken" ] || { printf %s "$small"; exit ${ENDED.noDevice}; }

new=$disks/.$cid.new
# Its maker was killed, and the device has its name already: there must not be two.
[ ! -e "$new/device" ] || { echo "$(cat "$new/device"), on which it was being made, cannot be read"; exit ${ENDED.lost}; }
rm -rf "$new"
mkdir "$new"
printf %s "$record" >"$new/record.json"
printf %s "$taken" >"$new/device"
printf %s "$mib" >"$new/size"
mknod -m 0600 "$new/$cid.img" b $(number "$taken" | tr : ' ')
if ! said=$(dd if="$new/$cid.img" of=/dev/null bs=512 count=1 2>&1); then
  rm -rf "$new"
  echo "devices cannot be opened in the volume (is it mounted with nodev?): $said" >&2
  exit 1
fi
sync "$new/record.json" "$new/device" "$new/size" "$disks"
set_stamp "$new/$cid.img" "slipway $cid"
mv -T "$new" "$disks/$cid"
sync "$disks"
`;
