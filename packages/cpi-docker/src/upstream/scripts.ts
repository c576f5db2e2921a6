import type { ArchiveFile } from "../engine/archive.ts";
import type { UpstreamAgent } from "./find-agent.ts";

const DIR = "var/lib/slipway";
const START = `${DIR}/start`;
const DISK = `${DIR}/disk`;

/** File system that an empty disk gets. */
export type FileSystem = "ext4" | "xfs";

/** Returns the name of a disk in its VM. */
export const nodeOf = (disk: string): string => `/dev/slipway-${disk}`;

const NOT_HERE = 75;
const ATTACHED = "attached\n";

/**
 * Script that a VM runs before the stemcell's own init, at every start. The engine binds three files of its own over
 * those of /etc, and a file that is bound cannot be replaced by another: upstream's agent does that, and bosh-dns.
 *
 * Upstream's agent mounts only disks with partitions again when it starts, so that is done here.
 */
const START_SCRIPT = `set -eu
at=/${DIR}
said=$(cat /etc/resolv.conf 2>/dev/null || true)
bound() { awk -v at="$1" '$5 == at { found = 1 } END { exit !found }' /proc/self/mountinfo; }
for name in resolv.conf hosts hostname; do
  file=$(readlink -f "/etc/$name")
  while bound "$file"; do umount "$file"; done
done
[ ! -s "$at/resolv.conf" ] || said=$(cat "$at/resolv.conf")
if [ "$1" = systemd ] && [ -e /usr/lib/systemd/systemd-resolved ]; then
  ln -sf /run/systemd/resolve/stub-resolv.conf /etc/resolv.conf
else
  rm -f /etc/resolv.conf
  printf '%s\\n' "$said" >/etc/resolv.conf
fi
shift
[ -s /etc/hosts ] || printf '%s\\n' '127.0.0.1 localhost' '::1 localhost' >/etc/hosts
cat /proc/sys/kernel/hostname >/etc/hostname
mkdir -p /var/vcap/data/sys /var/vcap/store
# The clock is the host's. Without this the agent would wait for one that nobody sets.
clock=/var/vcap/bosh/bin/sync-time
[ ! -f "$clock" ] || sed -i 's/^\\([[:space:]]*\\)chronyc /\\1: chronyc /' "$clock"
store=$(cat /var/vcap/bosh/managed_disk_settings.json 2>/dev/null || true)
for mark in "$at/disks"/*; do
  [ "$(cat "$mark" 2>/dev/null)" = attached ] || continue
  disk=\${mark##*/} turns=0 code=0
  # After a restart of the host the disk helper makes the loop devices, which may take a while.
  while sh "/${DISK}" "$disk" || code=$?; [ "$code" = ${NOT_HERE} ] && [ "$turns" -lt 600 ]; do
    turns=$((turns + 1)) code=0
    sleep 1
  done
  [ "$code" = 0 ] || { echo "slipway: disk $disk is not usable" >&2; continue; }
  [ "$disk" != "$store" ] || mount "/dev/slipway-$disk" /var/vcap/store
done
# As upstream's CPI does it: nothing of the engine's environment.
exec env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin container=docker "$@"
`;

/**
 * cid. Makes the node of a disk, whose number is another one after a restart of the host, and sees that there is a file
 * system as large as the disk on it: the agent mounts what it finds, and does neither. Nothing is written over.
 */
const DISK_SCRIPT = `set -eu
node=/dev/slipway-$1 number=
for at in /sys/block/loop*/loop/backing_file; do
  case $(cat "$at" 2>/dev/null) in
    */"$1.img") number=$(cat "\${at%/loop/backing_file}/dev") ;;
  esac
done
[ -n "$number" ] || { echo "it has no loop device" >&2; exit ${NOT_HERE}; }
rm -f "$node.new"
mknod -m 0600 "$node.new" b "\${number%:*}" "\${number#*:}"
mv -f "$node.new" "$node"
! awk -v number="$number" '$3 == number { found = 1 } END { exit !found }' /proc/self/mountinfo || exit 0
dd if="$node" of=/dev/null bs=512 count=1 2>/dev/null || { echo "$node cannot be read" >&2; exit 1; }
code=0
found=$(blkid -p -s TYPE -s PTTYPE -o value "$node") || code=$?
[ "$code" = 0 ] || [ "$code" = 2 ] || { echo "blkid does not know what is on $node" >&2; exit 1; }
case $found in
  "")
    # Whoever was ended while he made one may go on.
    begun=/${DIR}/formatting-$1
    if [ ! -e "$begun" ]; then
      last=$(($(blockdev --getsize64 "$node") / 1048576 - 1))
      other=$({ dd if="$node" bs=1M count=1; dd if="$node" bs=1M count=1 skip="$last"; } 2>/dev/null | tr -d '\\0' | wc -c)
      [ "$other" = 0 ] || { echo "$node is not empty, and nobody knows what is on it" >&2; exit 1; }
      : >"$begun"
    fi
    case $(cat /${DIR}/file-system) in
      xfs) mkfs.xfs -q -f -K "$node" >&2 ;;
      *) mkfs.ext4 -q -F -E nodiscard "$node" >&2 ;;
    esac
    rm -f "$begun" ;;
  ext4)
    has=$(dumpe2fs -h "$node" 2>/dev/null | awk '/^Block count:/ { n = $3 } /^Block size:/ { print int(n * $3 / 1048576) }')
    if [ "$has" -lt $(($(blockdev --getsize64 "$node") / 1048576)) ]; then
      e2fsck -f -p "$node" >&2 || [ $? -le 1 ]
      resize2fs "$node" >&2
    fi ;;
  xfs)
    mkdir -p /run/slipway-grow
    mount "$node" /run/slipway-grow
    xfs_growfs -d /run/slipway-grow >&2 || true
    umount /run/slipway-grow ;;
  dos | gpt) echo "$node has partitions, and no nodes for them can be made here" >&2; exit 1 ;;
esac
`;

/** Returns the command that the VM runs in place of the image's. */
export const startCommand = ({ init, systemd }: UpstreamAgent): readonly string[] => [
  "/bin/sh",
  `/${START}`,
  systemd ? "systemd" : "other",
  ...init,
];

/** Returns the files that are put into the VM beside its settings, before its first process starts. */
export const startFiles = (
  agent: UpstreamAgent,
  { dns, fileSystem }: { readonly dns: readonly string[]; readonly fileSystem: FileSystem },
): readonly ArchiveFile[] => [
  { name: START, content: START_SCRIPT, mode: 0o700 },
  { name: DISK, content: DISK_SCRIPT, mode: 0o700 },
  { name: `${DIR}/file-system`, content: fileSystem, mode: 0o600 },
  {
    name: `${DIR}/resolv.conf`,
    content: dns.map((server) => `nameserver ${server}\n`).join(""),
    mode: 0o600,
  },
  { name: "var/vcap/bosh/agent.json", content: `${agent.config}\n`, mode: 0o644 },
];

/** Says whether the VM has a disk, to the next start. */
export const diskMark = (disk: string, attached: boolean): ArchiveFile => ({
  name: `${DIR}/disks/${disk}`,
  content: attached ? ATTACHED : "",
  mode: 0o600,
});

/** Run in the VM when it gets a disk. */
export const diskCommand = (disk: string): readonly string[] => ["sh", `/${DISK}`, disk];
