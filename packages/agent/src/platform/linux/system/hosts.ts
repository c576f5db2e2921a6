import { isIP } from "node:net";
import type { Log } from "../../../log.ts";
import { checkHostname } from "./hostname.ts";
import { modeOf, replaceFile } from "./replace-file.ts";

type HostRecord = readonly [ip: string, name: string];

/** Upstream's lines, to the letter. */
const header = (hostname: string) => `127.0.0.1 ${hostname} localhost

# The following lines are desirable for IPv6 capable hosts
::1 ${hostname} localhost ip6-localhost ip6-loopback
fe00::0 ip6-localnet
ff00::0 ip6-mcastprefix
ff02::1 ip6-allnodes
ff02::2 ip6-allrouters
ff02::3 ip6-allhosts
`;

/** Replaces the hosts file and keeps its mode. A record that fits no line must not cost the others their names. */
export async function writeHosts(
  file: string,
  records: readonly HostRecord[],
  agentId: string,
  log: Log,
): Promise<void> {
  checkHostname(agentId);
  const usable = records.filter(fitsLine);
  const refused = records.length - usable.length;
  if (refused > 0) log.warn(`${refused} DNS records are left out of ${file}: not an address and a name`);
  const lines = usable.map(([ip, name]) => `${ip} ${name}\n`);
  await replaceFile(file, header(agentId) + lines.join(""), await modeOf(file, 0o644));
}

/** A name with a line end or a blank would name other hosts as well. */
const fitsLine = ([ip, name]: HostRecord) => isIP(ip) !== 0 && /^[^\s#\p{Cc}]{1,253}$/u.test(name);
