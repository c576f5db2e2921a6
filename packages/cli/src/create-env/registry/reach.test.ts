import { networkInterfaces } from "node:os";
import { describe, expect, it } from "vitest";
import { RegistryUnreachable, TunnelUnsupported } from "../errors.ts";
import { addressTowards, registryHost } from "./reach.ts";

const own = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .filter(({ family }) => family === "IPv4")
  .map(({ address }) => address);

describe("where a VM finds a registry of this machine", () => {
  it.each(own)("an address of this machine is reached from itself: %s", async (address) => {
    expect(await addressTowards(address)).toBe(address);
  });

  it("is the manifest's word first, then the way to the VM's own address", async () => {
    const manual = { a: { type: "vip", ip: "203.0.113.7" }, b: { type: "manual", ip: "127.9.9.9" } } as const;
    expect(await registryHost({ host: "10.0.0.2", sshTunnel: true }, manual)).toBe("10.0.0.2");
    expect(await registryHost({ host: undefined, sshTunnel: false }, manual)).toBe("127.0.0.1");
  });

  it("is refused where it cannot be known", async () => {
    const dynamic = { a: { type: "dynamic" } } as const;
    const unknown = registryHost({ host: undefined, sshTunnel: false }, dynamic);
    await expect(unknown).rejects.toSatisfy(RegistryUnreachable.is);
    const tunnel = registryHost({ host: undefined, sshTunnel: true }, dynamic);
    await expect(tunnel).rejects.toSatisfy(TunnelUnsupported.is);
  });
});
