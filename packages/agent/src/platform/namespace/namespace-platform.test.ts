import { readdir, writeFile } from "node:fs/promises";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import type { DiskPlatform } from "../disks.ts";
import { testMachine } from "../linux/system/testing/machine.ts";
import { namespacePlatform } from "./namespace-platform.ts";
import { namespaceNetworks } from "./networks.ts";
import type { SandboxPermits } from "./system.ts";

const disks = {} as DiskPlatform;
const pem = "-----BEGIN CERTIFICATE-----\none\n-----END CERTIFICATE-----";

async function sandbox(permits: SandboxPermits = {}) {
  const machine = await testMachine();
  await machine.write("etc/hosts", "host's own");
  await machine.write("proc/sys/kernel/hostname", "host");
  let ended = 0;
  const powerOff = async () => void ended++;
  const platform = namespacePlatform({ ...machine, clock: fakeClock(), permits, powerOff, disks });
  return { machine, platform, ended: () => ended };
}

describe("the system of a sandbox", () => {
  it("changes nothing of its host unless that is permitted", async () => {
    const { machine, platform } = await sandbox();
    const { system } = platform;
    await system.setHostname("agent-1");
    await system.writeHosts([["10.0.0.5", "web"]], "agent-1");
    await system.setPassword("vcap", "$6$x");
    await system.setAuthorizedKeys("vcap", ["ssh-rsa x"]);
    await system.setNtp(["time.example.com"]);
    await system.setTrustedCertificates([pem]);
    await system.deleteSshUsers(/.*/);

    expect(await machine.read("etc/hosts")).toBe("host's own");
    expect(await machine.read("proc/sys/kernel/hostname")).toBe("host");
    expect((await readdir(machine.paths.root)).sort()).toEqual(["etc", "proc", "var"]);
    expect(await machine.read("var/vcap/bosh/etc/hosts")).toContain("10.0.0.5 web\n");
    expect(await readdir(`${machine.paths.boshDir}/etc/ca-certificates`)).toEqual([
      "bosh-trusted-cert-1.crt",
    ]);
    expect(machine.calls).toEqual([]);
  });

  it("has a host name and files of its own where it is permitted", async () => {
    const { machine, platform } = await sandbox({ hostname: true, etc: true });
    await platform.system.setHostname("agent-1");
    await platform.system.writeHosts([], "agent-1");
    await platform.system.setTrustedCertificates([pem]);
    expect(await machine.read("proc/sys/kernel/hostname")).toBe("agent-1");
    expect(await machine.read("etc/hosts")).toContain("127.0.0.1 agent-1 localhost");
    expect(await readdir(machine.paths.system("usr/local/share/ca-certificates"))).toHaveLength(1);
  });

  it("says that jobs are not kept in memory when they should be", async () => {
    const { machine, platform } = await sandbox();
    const nothing = { runSize: undefined, jobs: false, jobsSize: undefined, settings: false };
    await platform.layout.memory(nothing);
    expect(machine.log.warnings).toEqual([]);
    await platform.layout.memory({ ...nothing, jobs: true });
    expect(machine.log.warnings).toEqual([expect.stringContaining("job_dir.tmpfs has no effect")]);
  });

  it("keeps the owner of a file when it has no such user", async () => {
    const { machine, platform } = await sandbox();
    await machine.write("etc/passwd", "root:x:0:0::/root:/bin/sh\n");
    const file = machine.paths.system("file");
    await writeFile(file, "");
    await platform.system.chown(file, "vcap");
    expect(machine.log.warnings.join()).toContain("keeps its owner");
  });

  it("ends by its init", async () => {
    const { platform, ended } = await sandbox();
    await platform.system.powerOff();
    expect(ended()).toBe(1);
  });

  it("has vitals", async () => {
    const { machine, platform } = await sandbox();
    await Promise.all(
      ["stat", "loadavg", "meminfo", "uptime", "self/mountinfo"].map((file) =>
        machine.write(`proc/${file}`, ""),
      ),
    );
    const vitals = await platform.system.vitals({
      ephemeral: machine.paths.data,
      persistent: machine.paths.store,
    });
    expect(Object.keys(vitals.disk)).toEqual(["system"]);
  });
});

describe("the networks of a sandbox", () => {
  const given = {
    a: { ip: "10.0.0.5", netmask: "255.255.255.0", gateway: "10.0.0.1" },
    b: { ip: "10.1.0.5", netmask: "255.255.0.0", gateway: "10.1.0.1", default: ["gateway"] },
    v: { type: "vip" as const, ip: "1.2.3.4" },
  };
  const signal = new AbortController().signal;

  it("are what its default route shows, or else what its settings say", async () => {
    const machine = await testMachine();
    const eth0 = { interface: "eth0", family: 4, address: "192.0.2.2", prefix: 24, global: true } as const;
    const networks = namespaceNetworks(machine.paths, () => [eth0]);
    expect(await networks.live()).toBeUndefined();
    await networks.configure(given, signal);
    expect(await networks.live()).toEqual({ ip: "10.1.0.5", netmask: "255.255.0.0", gateway: "10.1.0.1" });
    await machine.write(
      "proc/net/route",
      "head\neth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n",
    );
    expect((await networks.live())?.ip).toBe("192.0.2.2");
    await networks.deleteArpEntries(["10.0.0.1"]);
    expect(machine.calls).toEqual([]);
  });
});
