import { createSocket } from "node:dgram";
import { once } from "node:events";
import { isIP } from "node:net";
import type { Networks } from "@slipway/protocol/settings/networks";
import { RegistryUnreachable, TunnelUnsupported } from "../errors.ts";
import type { RegistryWish } from "../manifest/model.ts";

/** Any: nothing is sent. */
const PORT = 9;

/** The address of this machine at which a VM of these networks finds a registry of ours. */
export async function registryHost(wish: RegistryWish, networks: Networks): Promise<string> {
  if (wish.host !== undefined) return wish.host;
  if (wish.sshTunnel) throw TunnelUnsupported({});
  const ips = Object.values(networks).flatMap(({ type, ip }) =>
    type === "vip" || ip === undefined ? [] : [ip],
  );
  const [ip] = ips;
  if (ip === undefined) throw RegistryUnreachable({ why: "its address is not known before it is made" });
  return await addressTowards(ip);
}

/** The one this machine would send from: what is sent back to it arrives. */
export async function addressTowards(ip: string): Promise<string> {
  const socket = createSocket(isIP(ip) === 6 ? "udp6" : "udp4");
  try {
    socket.connect(PORT, ip);
    await once(socket, "connect");
    return socket.address().address;
  } catch (cause) {
    throw RegistryUnreachable({ why: `this machine has no way to ${ip}` }, { cause });
  } finally {
    socket.close();
  }
}
