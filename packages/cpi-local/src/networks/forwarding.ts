import type { LocalCloud } from "../local-cloud.ts";

/**
 * Why sandboxes with networks of their own may not reach each other, though the host reaches them: Docker and others set
 * up firewalls that forward nothing they do not know. Ours to say, not ours to change.
 */
export async function forwardingTrouble(cloud: LocalCloud): Promise<string | undefined> {
  const listed = await cloud.exec("iptables", ["-w", "-S"]).catch(() => undefined);
  if (listed?.code !== 0 || !/^-P FORWARD (DROP|REJECT)/m.test(listed.stdout)) return undefined;
  if (/^-A .*sw-/m.test(listed.stdout)) return undefined;
  const chain = /^-N DOCKER-USER/m.test(listed.stdout) ? "DOCKER-USER" : "FORWARD";
  return `this host's firewall keeps sandboxes from reaching each other (the host reaches them); to let them: iptables -I ${chain} -i sw-+ -o sw-+ -j ACCEPT`;
}
