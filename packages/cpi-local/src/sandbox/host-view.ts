/**
 * Shell functions of ROOT that keep what is the host's out of a sandbox's view: its devices, terminals, sockets, passwords,
 * and what of /proc is about the whole machine. They use its variables: root, base, user.
 */
export const HOST_VIEW = `
# Of root's sandboxes: no disk of the host's is among them. Whoever is not root may open what he may open.
devices() {
  mount -n -t tmpfs -o nosuid,mode=755,size=64k slipway "$root/dev" && mkdir "$root/dev/pts" "$root/dev/shm" &&
    ln -s /proc/self/fd "$root/dev/fd" && ln -s /proc/self/fd/0 "$root/dev/stdin" &&
    ln -s /proc/self/fd/1 "$root/dev/stdout" && ln -s /proc/self/fd/2 "$root/dev/stderr" || return
  for at in null zero full random urandom tty; do
    cp -a "/dev/$at" "$root/dev" 2> /dev/null ||
      { : > "$root/dev/$at" && mount -n --bind "/dev/$at" "$root/dev/$at"; } || return
  done
  ln -s pts/ptmx "$root/dev/ptmx" && mount -n -o remount,bind,ro,nosuid "$root/dev"
}

# Terminals of its own. Group 5 is tty; an ordinary user need not have it.
terminals() {
  [ -d "$root/dev/pts" ] || return 0
  [ -n "$user" ] && tty= || tty=,gid=$((\${base:-0} + 5))
  mount -n -t devpts -o "nosuid,noexec,newinstance,ptmxmode=666,mode=620$tty" slipway "$root/dev/pts" ||
    fresh size=4k,ro /dev/pts
}

# What a root with the number of the host's root could read or write in /proc.
mask() {
  for at in sys bus driver fs irq scsi tty; do
    [ ! -d "$root/proc/$at" ] || mount -n -o bind,ro "$root/proc/$at" "$root/proc/$at" || return
  done
  for at in kcore keys kmsg kpagecgroup kpagecount kpageflags latency_stats mtrr sched_debug slabinfo \\
    sysrq-trigger timer_list vmallocinfo; do
    [ ! -f "$root/proc/$at" ] || mount -n --bind "$root/dev/null" "$root/proc/$at" || return
  done
}

# A socket can be connected to on a read-only mount, too. Those of the host that there are now are covered.
sockets() {
  while read -r _ _ _ _ _ _ _ at; do
    case $at in /var/*) at=/run/slipway$at ;; /*) ;; *) continue ;; esac
    # One may go at this moment.
    [ ! -S "$root$at" ] || mount -n --bind "$root/dev/null" "$root$at" || [ ! -S "$root$at" ] || return
  done < /proc/net/unix
}

# A directory of the host's that programs of releases write to: a copy of its own, made when the sandbox first starts. It is
# made with the id of the sandbox's root, so that what only root of the host may read stays behind.
copied() {
  [ -d "$1" ] && [ ! -L "$1" ] || return 0
  name=$(printf %s "\${1#/}" | tr / -)
  if [ ! -d "$vm/places/$name" ]; then
    half=places/$name.half
    rm -rf "$vm/$half" && mkdir -p "$vm/$half" || return
    said=$( ( cd "$own/$half" && as cp -a --reflink=auto "$1/." . ) 2>&1 )
    case $said in *"No space"* | *"quota exceeded"*) echo "sandbox: $1 cannot be copied: no space" >&2; return 1 ;; esac
    chmod 755 "$vm/$half" || return
    [ "$1" != /etc ] || accounts "$own/$half" || return
    mv "$vm/$half" "$vm/places/$name" || return
  fi
  put "$own/places/$name" "$1"
}

# Accounts without the host's passwords, which were not to be read: su looks for them here.
accounts() {
  [ -n "$base" ] && [ -f /etc/shadow ] || return 0
  sed 's/^\\([^:]*\\):.*/\\1:*:19000:0:99999:7:::/' /etc/passwd | ( cd "$1" && as sh -c 'umask 077; cat > shadow' )
}
`;
