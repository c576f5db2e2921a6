import { shellQuoted } from "@slipway/kernel/shell";

export interface CaptureOptions {
  readonly interface: string;
  readonly snaplen: number;
  readonly filter: string | undefined;
}

/** Printed in the VM if it has no tcpdump; no other program prints it. */
export const NO_TCPDUMP = "slipway: there is no tcpdump here";

/**
 * Captures until its input ends, which it does with the connection too: nothing is left running. `-U`: what was captured is on
 * its way at once. The connection it is sent through would capture itself.
 */
const SCRIPT = `PATH=$PATH:/usr/sbin:/sbin
command -v tcpdump >/dev/null || { echo "${NO_TCPDUMP}" >&2; exit 127; }
device=$2 most=$3 filter=$4
set -- $1
own=
[ -z "$2" ] || own="not (host \${1%%%*} and port $2)"
[ -z "$filter" ] || own="\${own:+$own and }($filter)"
exec 3<&0
tcpdump -U -w - -i "$device" -s "$most" \${own:+"$own"} 3<&- &
dump=$!
{ cat <&3; kill "$dump"; } >/dev/null 2>&1 &
waits=$!
exec 3<&-
wait "$dump"
code=$?
kill "$waits" 2>/dev/null
exit "$code"`;

/** For a shell in a VM, with `sudo` where it is needed. All that was typed are arguments, and nothing in them means a command. */
export function captureCommand(wanted: CaptureOptions): string {
  const typed = [wanted.interface, String(wanted.snaplen), wanted.filter ?? ""].map(shellQuoted).join(" ");
  const sh = `sh -c ${shellQuoted(SCRIPT)} sh "$SSH_CLIENT" ${typed}`;
  return `if [ "$(id -u)" = 0 ]; then exec ${sh}; else exec sudo -n ${sh}; fi`;
}
