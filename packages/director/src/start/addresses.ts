import { networkInterfaces } from "node:os";

/** Loopback is no VM's, but where VMs are processes they share it with the Director. */
export function ownAddresses(host: string): readonly string[] {
  const all = Object.values(networkInterfaces()).flatMap((list) =>
    (list ?? []).map(({ address }) => address),
  );
  return [...new Set(host === "0.0.0.0" || host === "::" ? all : [...all, host])];
}

/** Returns the host as it stands in a URL. */
export const shownHost = (host: string): string =>
  host === "0.0.0.0" || host === "::" ? "127.0.0.1" : host.includes(":") ? `[${host}]` : host;
