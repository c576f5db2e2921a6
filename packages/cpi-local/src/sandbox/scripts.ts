import { shellQuoted } from "@slipway/kernel/shell";
import { HOST_VIEW } from "./host-view.ts";
import { IDMAP, REMAP } from "./remap.ts";

/**
 * Scripts that run before the agent does, in the order in which they run. The texts are constant: what they work on
 * are arguments.
 *
 * The script of `outer` runs in the last process of the host's pid namespace; its first child is the sandbox's init. It
 * stays as long as that one: it keeps the outer mounts, by which disks come and go, so that nothing inside has to. It
 * notes an end that was wanted (3). Arguments: INIT, a name, the directory of the VM, and more for INIT. They come with
 * the script by stdin, since lists of processes show that process. The braces keep a shell from running a part of it.
 */
export const outer = (args: readonly string[]): string => `{
set -- ${args.map(shellQuoted).join(" ")}
setsid sh -c "$@" < /dev/null &
wait $!
code=$?
[ "$code" -ne 3 ] || echo off > "$3/ended"
exit "$code"
}
`;

/**
 * Puts one attached disk where the sandbox sees it, unless it is there already. Arguments: directory of disks, directory
 * of the VM, name, pid of the init, by whose user namespace the owners of files are mapped.
 */
const PUT_DISK = `${IDMAP}
put_disk() {
  [ -d "$2/hot/$3" ] || mkdir -p "$2/hot/$3" || return
  read -r _ first _ < "/proc/$4/uid_map" || return
  if mountpoint -q "$2/hot/$3"; then
    # One that a crash has left without its map gets it now.
    [ "$first" -ne 0 ] && [ "$(stat -c %u "$2/hot/$3")" -lt "$first" ] || return 0
    idmap "/proc/$4/ns/user" 6 "$2/hot/$3" "$2/hot/$3" over
  elif [ -f "$1/$3/image" ]; then
    mount -n -t ext4 -o loop,nosuid,nodev "$1/$3/image" "$2/hot/$3" || return
    # As keepSpace.
    [ ! -e "$1/$3/preallocated" ] || {
      limit=/sys/dev/block/$(mountpoint -d "$2/hot/$3")/queue/discard_max_bytes
      read -r bytes 2> /dev/null < "$limit" && [ "$bytes" = 0 ] || echo 0 2> /dev/null > "$limit"
    } || true
    [ "$first" -eq 0 ] || idmap "/proc/$4/ns/user" 6 "$2/hot/$3" "$2/hot/$3" over
  elif [ "$first" -ne 0 ]; then idmap "/proc/$4/ns/user" 6 "$1/$3/content" "$2/hot/$3"
  else
    mount -n --bind "$1/$3/content" "$2/hot/$3" || return
    # Where an ordinary user may not change the flags, the host has more of them.
    mount -n -o remount,bind,nosuid,nodev "$2/hot/$3" 2> /dev/null || true
  fi
}
`;

export const ATTACH = `set -u${PUT_DISK}put_disk "$@"`;

/**
 * Does for the init what the init cannot do once it has given its rights away. A child of the init that keeps the
 * host's: it follows one order after the other, and ends before the agent starts. Disks come last: what is mounted in
 * the sandbox before it has its own user namespace could not be taken from it any more.
 */
const HELP = `
ids() {
  map=
  while read -r first _ count; do map="$map$first $first $count
"; done < "/proc/self/$1_map"
  printf %s "$map" > "/proc/$pid/$1_map"
}
networks() {
  [ -e "$vm/net-inside" ] || return 0
  nsenter --net="/proc/$pid/ns/net" ip -batch "$vm/net-inside" && ip -batch "$vm/net-outside" || return
  while read -r link; do echo 1 > "/proc/sys/net/ipv4/conf/$link/forwarding" || return; done < "$vm/net-links"
}
# Its own programs are not what the new root need have.
leave() { nsenter --mount="/proc/$pid/ns/mnt" --root=/ umount -n -l -c "/proc/$pid/root/run/slipway/host"; }
disks() {
  for disk in "$vm"/disks/*; do
    [ -e "$disk" ] || continue
    put_disk "$disks" "$vm" "\${disk##*/}" "$pid" || echo "sandbox: disk \${disk##*/} could not be put in place" >&2
  done
}
help() {
  exec 6>&- 8< /proc/self/ns/net 3< "$vm/starting/asked" 4> "$vm/starting/done" || exit
  while read -r what <&3; do
    case $what in
      ids) ids uid && ids gid ;;
      networks) networks ;;
      host) leave ;;
      disks) disks ;;
    esac && echo yes >&4 || echo no >&4
    [ "$what" != disks ] || exit
  done
}
`;

/**
 * The init, still with the host's root, in the outer mounts. It says who it is before it does anything, so that no crash
 * of the CPI can lose it; the link fails if another start was faster. /proc is the host's, and so is the pid it shows.
 * Descriptors, until the agent starts: 6 tells that all is set up, 7 asks for help, 5 hears whether it came.
 */
export const INIT = `set -u
umask 022
vm=$1 nonce=$2 boot=$3 namespace=$4 disks=$5
shift 5
read -r stat < /proc/self/stat || exit
stats() { pid=$1 started=\${22}; }
stats $stat
printf '{"pid":%s,"started":"%s","boot":"%s","namespace":"%s"}\\n' "$pid" "$started" "$boot" "$namespace" \\
  > "$vm/starting/$nonce" || exit
ln "$vm/starting/$nonce" "$vm/process" || exit
echo "$pid" > "$vm/pid"
${PUT_DISK}${HELP}
mount -n --bind --make-shared "$vm/hot" "$vm/hot" || exit
: > "$vm/ended" || exit
mkfifo "$vm/starting/asked" "$vm/starting/done" || exit
exec 6> "$vm/starting/ready" || exit
help &
exec 7<> "$vm/starting/asked" 5<> "$vm/starting/done" || exit
exec unshare --mount --propagation slave sh -c "$@"
`;

/**
 * The init in its inner mounts: builds the root. What is the host's is made read-only, one mount after
 * the other with the flags it has, which an ordinary user could not take away; whatever is bound from there afterwards is
 * read-only too. Then come the places that are its own.
 */
export const ROOT = `set -u
vm=$1 cloud=$2 stemcell=$3 agent=$4 node=$5 user=$6 net=$7 ids=$8 inside=$9
shift 9
loop=$1 base=$2
shift 2
root=$vm/root own=$vm/own
fail() { echo "sandbox: $*" >&2; exit 1; }
fresh() {
  mount -n -t tmpfs -o "nosuid,nodev\${base:+,uid=$base,gid=$base},$1" slipway "$root$2" || fail "no $2"
}
# A place of the sandbox's own. Where an ordinary user may not change the flags, the host has more of them.
put() {
  mount -n --bind "$1" "$root$2" && { mount -n -o remount,bind,nodev "$root$2" 2> /dev/null || [ -n "$user" ]; } ||
    fail "no $2"
}
# A directory of the host's whose owners are mapped like the sandbox's.
bound() {
  if [ -n "$base" ]; then idmap "$space" 6 "$1" "$2"
  else mount -n --bind "$1" "$2" && { mount -n -o remount,bind,nosuid,nodev "$2" || [ -n "$user" ]; }; fi
}
${REMAP}
read_only() {
  while read -r _ _ _ _ at flags _; do
    case $at in *\\\\*) at=$(printf %b "$at") ;; esac
    case $at in
      # Covered in a moment, or nothing to write to.
      "$root"/proc | "$root"/proc/* | "$root"/run | "$root"/run/* | "$root"/dev/pts | "$root"/dev/shm) continue ;;
      "$root"/sys/fs/cgroup/*) continue ;;
      "$root") [ -z "$stemcell" ] || continue ;;
      "$root"/*) ;;
      *) continue ;;
    esac
    # Devices of an ordinary user are those of the host.
    case $at in "$root"/dev | "$root"/dev/*) more= ;; *) more=,nosuid,nodev ;; esac
    case $flags in ro | ro,*) [ -n "$more" ] || continue ;; esac
    # What cannot be reached, or is covered, cannot be written to either.
    mount -n -o "remount,bind,ro\${flags#r[ow]}$more" "$at" 2> /dev/null || ! mountpoint -q "$at" ||
      case $flags in ro | ro,*) echo "sandbox: devices of $at stay" >&2 ;; *) fail "$at cannot be made read-only" ;; esac
  done < /proc/self/mountinfo
}

# A program of the host's, from its read-only root where it can be seen there.
program() {
  : > "$root/run/slipway/$2" || fail "no $2"
  if [ -n "$base" ] && idmap "$space" 7 "$1" "$root/run/slipway/$2" 2> /dev/null; then :
  elif [ -z "$stemcell" ] && [ -f "$root$1" ]; then mount -n --bind "$root$1" "$root/run/slipway/$2" || fail "no $2"
  else
    mount -n --bind "$1" "$root/run/slipway/$2" || fail "no $2"
    mount -n -o remount,bind,ro,nosuid,nodev "$root/run/slipway/$2" || [ -n "$user" ] || fail "$2 stays writable"
  fi
}

# No link of the sandbox's may lead a mount of ours out of it.
dir() {
  [ ! -L "$root/$1" ] || fail "/$1 is a link"
  [ -d "$root/$1" ] || ( cd "$root" && as mkdir "$1" ) || fail "no /$1"
}

# A directory of the host's, at its place, to write to. What hides it, or is read-only, lies below.
share() {
  [ -d "$1" ] || fail "$1, which is to be shared, is no directory"
  at= rest=\${1#/}
  # Where the host's /var is in a sandbox with its root.
  case $1 in /var/vcap/* | /var/tmp/*) ;; /var/*) [ -n "$stemcell" ] || at=/run/slipway ;; esac
  while [ -n "$rest" ]; do
    at=$at/\${rest%%/*}
    dir "\${at#/}"
    case $rest in */*) rest=\${rest#*/} ;; *) rest= ;; esac
  done
  bound "$1" "$root$at" || fail "$1 cannot be shared"
}

${HOST_VIEW}
# A place for /var/vcap, which the host need not have; all else is a link to where it is.
link_var() {
  set --
  for at in /var/* /var/.[!.]*; do
    case $at in /var/vcap | /var/tmp) continue ;; esac
    if [ -e "$at" ] || [ -L "$at" ]; then set -- "$@" "/run/slipway$at"; fi
  done
  ln -s "$@" "$root/var" && mkdir "$root/var/vcap" "$root/var/tmp"
}

if [ -z "$stemcell" ]; then
  [ ! -L /var ] && [ ! -L /run ] && [ ! -L /tmp ] || fail "/var, /run and /tmp of the host must not be links"
  mount -n --rbind / "$root" && umount -n -l "$root$vm/hot" || fail "the host's root cannot be bound"
fi
remap "$@" || unmap
if [ -n "$stemcell" ]; then
  cd "$cloud" || exit
  lower=stemcells/$stemcell/root mine=vms/\${vm##*/}
  plain=lowerdir=$lower,upperdir=$mine/upper,workdir=$mine/work
  if [ -d "$vm/copy" ]; then mount -n --bind "$own/copy" "$root"
  elif [ -n "$base" ] && layers "$root"; then :
  elif mount -n -t overlay -o "$plain\${user:+,userxattr}" slipway "$root"; then [ -z "$base" ] || unmap
  else
    [ -z "$(ls -A "$vm/upper")" ] || fail "what it has changed of its root cannot be mounted"
    echo "sandbox: no overlay here, so the root file system is copied" >&2
    rm -rf "$vm/copy.partial"
    cp -a --reflink=auto "$lower" "$vm/copy.partial" && mv "$vm/copy.partial" "$vm/copy" || fail "no copy"
    mount -n --bind "$own/copy" "$root"
  fi || fail "no root"
  mount -n -o remount,bind,nodev "$root" 2> /dev/null || [ -n "$user" ] || fail "no root"
  for at in dev etc proc run sys tmp var var/vcap; do dir "$at"; done
  [ -L "$root/etc/resolv.conf" ] || ( cd "$root" && as sh -c 'cat > etc/resolv.conf' < /etc/resolv.conf )
  [ -z "$user" ] || mount -n --rbind /dev "$root/dev" || fail "no devices"
  mount -n --rbind /sys "$root/sys" || fail "no /sys"
fi
[ -n "$user" ] || devices || fail "no devices"
# Many mounts, and nothing in them that a sandbox could use.
[ ! -d "$root/sys/fs/cgroup" ] || fresh size=4k,ro /sys/fs/cgroup
read_only

fresh mode=755 /run
mkdir -p "$root/run/lock" "$root/run/slipway/var" "$root/run/slipway/host" || fail "no /run"
cp -p "$vm/agent.json" "$vm/user-data.json" "$root/run/slipway" || fail "no settings"
[ -z "$base" ] || chown "$base:$base" "$root/run/lock" "$root/run/slipway" "$root"/run/slipway/* || fail "no owners"
program "$agent" agent.cjs
program "$node" node
if [ -z "$stemcell" ]; then
  mount -n --rbind "$root/var" "$root/run/slipway/var" || fail "no /var"
  fresh mode=755 /var
  link_var || fail "no /var"
  put "$own/tmp" /tmp
  put "$own/tmp" /var/tmp
  for place in /etc /usr/local/share/ca-certificates; do
    copied "$place" || fail "no $place of its own"
  done
  [ -L "$root/etc/resolv.conf" ] || ( cd "$root" && as sh -c 'cat > etc/resolv.conf' < /etc/resolv.conf )
  # Where names are resolved by a file of the host's.
  [ ! -d /run/systemd/resolve ] ||
    { mkdir -p "$root/run/systemd/resolve" && cp /run/systemd/resolve/*.conf "$root/run/systemd/resolve"; }
  for at; do
    [ "$at" != -- ] || break
    case $at in /var/*) at=/run/slipway$at ;; esac
    [ ! -d "$root$at" ] || fresh mode=700,size=4k,ro "$at"
  done
  sockets || fail "sockets of the host stay open"
fi
terminals
[ ! -d "$root/dev/shm" ] || [ -L "$root/dev/shm" ] || fresh mode=1777 /dev/shm
if mount -n -t proc -o nosuid,nodev,noexec proc "$root/proc"; then
  [ -n "$user" ] || mask || fail "/proc stays open"
else
  echo "sandbox: /proc stays the host's" >&2
  mount -n --rbind /proc "$root/proc" && mount -n -o remount,bind,ro,nosuid,nodev,noexec "$root/proc" || fail "no /proc"
fi
put "$own/vcap" /var/vcap
mount -n --rbind "$vm/hot" "$root/var/vcap/disks" || fail "no /var/vcap"
while [ "$1" != -- ]; do shift; done
shift
for at; do share "$at"; done

own=/usr/local/bin/slipway-agent
set -- -C /run/slipway/agent.json -b /var/vcap -P namespace
if [ -n "$stemcell" ] && [ -x "$root$own" ]; then set -- "$own" "$@"
else set -- /run/slipway/node /run/slipway/agent.cjs "$@"; fi
# Named after a file of its own, by which it is found in a list of processes.
set -- unshare --mount $net --propagation slave sh -c "$inside" sandbox "$loop" "$vm/agent.json" "$@"
# Not the keys of the session that has started it. The number of keyctl is another on each architecture.
case $(uname -m) in x86_64) keyctl=250 ;; aarch64) keyctl=219 ;; *) keyctl= ;; esac
[ -z "$keyctl" ] || ! command -v perl > /dev/null ||
  set -- perl -e 'syscall(shift() + 0, 1, 0); exec { $ARGV[0] } @ARGV' "$keyctl" "$@"
cd "$root" || fail "no root"
[ -z "$base" ] || exec nsenter --user="$space" "$@"
unshare --user true 2> /dev/null && exec unshare --user sh -c "$ids" sandbox "$@"
[ -z "$user" ] || fail "no user namespace within another"
echo "sandbox: no user namespaces here, so root of the sandbox is root of this machine" >&2
exec "$@"
`;
