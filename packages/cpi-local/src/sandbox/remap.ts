import { createHash } from "node:crypto";

/** Ids of one sandbox. Files whose owner is beyond them belong to the overflow id there. */
const RANGE = 65_536;
/** Start of a region that neither systemd nor the usual `/etc/subuid` gives out. */
const FIRST = 0x70000000;
const RANGES = 4096;

/** Returns the id of the host that root of the sandbox `cid` has when its ids are remapped. */
export const firstIdOf = (cid: string): number =>
  FIRST + (createHash("sha256").update(cid).digest().readUInt32BE(0) % RANGES) * RANGE;

/**
 * Shell function `idmap SPACE FLAGS FROM TO [over]`: binds FROM to TO with the owners mapped by the user namespace SPACE.
 * FLAGS are those of mount_setattr: 1 read-only, 2 nosuid, 4 nodev. `over` replaces the mount that is at TO already.
 * mount(8) has an option for it since 2.39 only, and ignores it before; the numbers of these system calls are the same on
 * all architectures. The perl text must not have single quotes.
 */
export const IDMAP = `
idmap() {
  perl -e '
    my ($space, $flags, $from, $to, $over) = @ARGV;
    my ($none, $here) = ("", -100);
    open(my $users, "<", $space) or die "sandbox: $space: $!\\n";
    my $tree = syscall(428, $here, $from, 02000001);
    die "sandbox: open_tree of $from: $!\\n" if $tree < 0;
    my $change = pack("QQQQ", 0x100000 | $flags, 0, 0, fileno $users);
    syscall(442, $tree, $none, 0x1000, $change, 32) == 0 or die "sandbox: no other owners for $from: $!\\n";
    if ($over) { system("umount", "-n", "-l", $to) == 0 or die "sandbox: $to stays mounted\\n" }
    syscall(429, $tree, $none, $here, $to, 4) == 0 or die "sandbox: $from cannot be moved to $to: $!\\n";
  ' "$@"
}
`;

/**
 * Shell functions for a sandbox whose ids are remapped, which is one of root's on a host that can do it.
 *
 * `remap HIDDEN... -- SHARED...` opens a user namespace of its own as descriptor 8 and binds the sandbox's files, with their owners
 * mapped, to `$vm/own`. It tries every shared directory too: one file system that cannot map owners decides for all.
 * `layers AT` mounts the overlay. Its layers are mapped, so it is made by a process whose id exists in them.
 * `as COMMAND` creates files as root of the sandbox, in the working directory: root of the host has no id in there.
 */
export const REMAP = `${IDMAP}
space=/proc/self/fd/8
as() {
  if [ -n "$base" ]; then setpriv --reuid "$base" --regid "$base" --clear-groups "$@"; else "$@"; fi
}
held() { holding=\${1:-} holder=\${2:-}; }
remap() {
  [ -z "$user" ] && command -v perl > /dev/null && command -v setpriv > /dev/null || return
  while [ "$1" != -- ]; do shift; done
  shift
  mkdir -p "$vm/own" "$vm/lower" || return
  # Its number as /proc shows it, which is the host's, and as its own pid namespace has it.
  held $(unshare --user sh -c 'read -r pid _ < /proc/self/stat; echo "$pid $$"; exec sleep 60 > /dev/null' &) || return
  [ -n "$holding" ] && [ -e "/proc/$holding/ns/user" ] || return
  printf '0 %s ${RANGE}\\n' "$base" > "/proc/$holding/uid_map" &&
    printf '0 %s ${RANGE}\\n' "$base" > "/proc/$holding/gid_map" || return
  exec 8< "/proc/$holding/ns/user"
  kill "$holder"
  for at; do idmap "$space" 4 "$at" "$vm/own" && umount -n "$vm/own" || return; done
  idmap "$space" 4 "$vm" "$vm/own"
}
unmap() {
  exec 8<&-
  base= own=$vm
  for at in "$vm/own" "$vm/lower"; do umount -n -l "$at" 2> /dev/null; done
  [ -n "$user" ] || echo "sandbox: users cannot be mapped here, so root of the sandbox has the number of root of this machine" >&2
}
layers() {
  idmap "$space" 4 "$cloud/stemcells/$stemcell/root" "$vm/lower" || return
  ( cd "$vm" && setpriv --securebits +no_setuid_fixup perl -e '
    my ($id, $to, %options) = @ARGV;
    my ($none, $type) = ("", "overlay");
    $) = "$id $id";
    $> = $id;
    my $context = syscall(430, $type, 1);
    for my $name (sort keys %options) {
      my ($key, $value) = ("$name", "$options{$name}");
      syscall(431, $context, 1, $key, $value, 0) == 0 or die "sandbox: overlay $name: $!\\n";
    }
    syscall(431, $context, 6, 0, 0, 0) == 0 or die "sandbox: no overlay of mapped layers: $!\\n";
    my $mount = syscall(432, $context, 1, 4);
    syscall(429, $mount, $none, -100, $to, 4) == 0 or die "sandbox: no overlay at $to: $!\\n";
  ' "$base" "$1" lowerdir lower upperdir own/upper workdir own/work source slipway )
}
`;
