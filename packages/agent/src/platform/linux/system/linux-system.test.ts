import { chmod, readdir, stat, writeFile } from "node:fs/promises";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { CertificatesNotUpdated, InvalidHostname, UnknownUser } from "../../system-errors.ts";
import { splitCertificates } from "./certificates.ts";
import { linuxSystem } from "./linux-system.ts";
import { type ProgramCall, testMachine } from "./testing/machine.ts";

const AGENT_ID = "4b0f6a52-7a0c-4a55-9b0e-0c1fd2a7b6aa";
const pem = (content: string) => `-----BEGIN CERTIFICATE-----\n${content}\n-----END CERTIFICATE-----`;

async function system(
  answer: (call: ProgramCall) => ReturnType<Parameters<typeof testMachine>[0] & object> = () => undefined,
) {
  const machine = await testMachine(answer);
  await machine.write("etc/hosts", "127.0.0.1 localhost\n");
  const clock = fakeClock();
  return { machine, clock, system: linuxSystem({ ...machine, clock }) };
}

describe("the host name", () => {
  it("is the agent id, in the kernel and in its file", async () => {
    const { machine, system: os } = await system();
    await machine.write("proc/sys/kernel/hostname", "(none)\n");
    await os.setHostname(AGENT_ID);
    expect(await machine.read("proc/sys/kernel/hostname")).toBe(AGENT_ID);
    expect(await machine.read("etc/hostname")).toBe(AGENT_ID);
    expect(machine.calls).toEqual([]);
  });

  it("is not set again if it is already set, as containers forbid it", async () => {
    const { machine, system: os } = await system();
    await machine.write("proc/sys/kernel/hostname", `${AGENT_ID}\n`);
    await os.setHostname(AGENT_ID);
    expect(await machine.read("proc/sys/kernel/hostname")).toBe(`${AGENT_ID}\n`);
  });

  it.each(["", "-F", "a b", "a\nb", "x".repeat(65)])("is never %j", async (agentId) => {
    const { system: os } = await system();
    await expect(os.setHostname(agentId)).rejects.toSatisfy(InvalidHostname.is);
    await expect(os.writeHosts([], agentId)).rejects.toSatisfy(InvalidHostname.is);
  });
});

describe("the hosts file", () => {
  it("has upstream's header and a line for each record, and keeps its mode", async () => {
    const { machine, system: os } = await system();
    await chmod(machine.paths.system("etc/hosts"), 0o640);
    await os.writeHosts(
      [
        ["10.0.0.5", "web.default.shop.bosh"],
        ["fd00::5", "q-s0.web"],
      ],
      AGENT_ID,
    );
    expect(await machine.read("etc/hosts")).toBe(`127.0.0.1 ${AGENT_ID} localhost

# The following lines are desirable for IPv6 capable hosts
::1 ${AGENT_ID} localhost ip6-localhost ip6-loopback
fe00::0 ip6-localnet
ff00::0 ip6-mcastprefix
ff02::1 ip6-allnodes
ff02::2 ip6-allrouters
ff02::3 ip6-allhosts
10.0.0.5 web.default.shop.bosh
fd00::5 q-s0.web
`);
    expect((await stat(machine.paths.system("etc/hosts"))).mode & 0o777).toBe(0o640);
    expect(await readdir(machine.paths.system("etc"))).toEqual(["hosts"]);
  });

  it("leaves out records that would inject lines or names", async () => {
    const { machine, system: os } = await system();
    await os.writeHosts(
      [
        ["10.0.0.5", "good"],
        ["10.0.0.6", "bad\n6.6.6.6 bank.example"],
        ["evil", "name"],
        ["10.0.0.7", "two names"],
      ],
      AGENT_ID,
    );
    const lines = (await machine.read("etc/hosts")).trimEnd().split("\n");
    expect(lines.slice(-2)).toEqual(["ff02::3 ip6-allhosts", "10.0.0.5 good"]);
    expect(machine.log.warnings.join()).toContain("3 DNS records are left out");
  });
});

describe("NTP", () => {
  it("writes the servers and asks the stemcell to synchronize; failing to is no failure", async () => {
    const { machine, system: os } = await system(() => ({ code: 1, stderr: "no servers" }));
    const program = `${machine.paths.boshDir}/bin/sync-time`;
    await machine.write("var/vcap/bosh/bin/sync-time", "");
    await os.setNtp(["time1.example.com", "10.0.0.9", "x; rm -rf"]);
    expect(await machine.read("var/vcap/bosh/etc/ntpserver")).toBe("time1.example.com 10.0.0.9");
    expect(machine.lines()).toEqual([program]);
    expect(machine.log.warnings.join()).toContain("no servers");
  });

  it("is left as it is without servers, and works without the program", async () => {
    const { machine, system: os } = await system();
    await os.setNtp([]);
    await expect(machine.read("var/vcap/bosh/etc/ntpserver")).rejects.toThrow("ENOENT");
    await os.setNtp(["a"]);
    expect(machine.calls).toEqual([]);
  });
});

describe("trusted certificates", () => {
  const DIRECTORY = "usr/local/share/ca-certificates";

  it("replace those before; what is around them is dropped, other files stay", async () => {
    const { machine, system: os } = await system();
    await machine.write(`${DIRECTORY}/mine.crt`, "mine");
    await os.setTrustedCertificates([`junk\n${pem("one")}\nmore\n${pem("two")}`, pem("three")]);
    expect((await readdir(machine.paths.system(DIRECTORY))).sort()).toEqual([
      "bosh-trusted-cert-1.crt",
      "bosh-trusted-cert-2.crt",
      "bosh-trusted-cert-3.crt",
      "mine.crt",
    ]);
    expect(await machine.read(`${DIRECTORY}/bosh-trusted-cert-2.crt`)).toBe(`${pem("two")}\n`);
    await os.setTrustedCertificates([]);
    expect(await readdir(machine.paths.system(DIRECTORY))).toEqual(["mine.crt"]);
    expect(machine.lines()).toEqual(Array(2).fill("/usr/sbin/update-ca-certificates -f"));
  });

  it("need no program if there are no certificates and were none before", async () => {
    const { machine, system: os } = await system(() => "missing");
    await os.setTrustedCertificates([""]);
    expect(machine.calls).toEqual([]);
  });

  it("are tried three times", async () => {
    let times = 0;
    const { machine, system: os } = await system(() => ({ code: ++times < 3 ? 1 : 0 }));
    await os.setTrustedCertificates([pem("one")]);
    expect(machine.calls).toHaveLength(3);

    const failing = await system(() => ({ code: 1, stderr: "broken" }));
    await expect(failing.system.setTrustedCertificates([pem("one")])).rejects.toSatisfy(
      CertificatesNotUpdated.is,
    );
    expect(failing.machine.calls).toHaveLength(3);
  });

  it("do not wait for a program that hangs", async () => {
    let times = 0;
    const {
      machine,
      clock,
      system: os,
    } = await system(({ options }) =>
      ++times > 1
        ? undefined
        : new Promise((_, reject) => {
            options.signal?.addEventListener("abort", () => reject(options.signal?.reason as Error));
          }),
    );
    const done = os.setTrustedCertificates([pem("one")]);
    while (times === 0) await new Promise((resolve) => setImmediate(resolve));
    await clock.advance(60_000);
    await done;
    expect(machine.calls).toHaveLength(2);
  });

  it("are split in time that grows with the text, not faster", () => {
    expect(splitCertificates("-----BEGIN CERTIFICATE-----".repeat(20_000))).toEqual([]);
  });
});

describe("the rest of the system", () => {
  it("gives files to a user, or to a user and a group", async () => {
    const { machine, system: os } = await system();
    const [uid, gid] = [process.getuid?.() ?? 0, process.getgid?.() ?? 0];
    await machine.write("etc/passwd", `vcap:x:${uid}:${gid}::/home/vcap:/bin/bash\n`);
    await machine.write("etc/group", `vcap:x:${gid}:\n`);
    const file = machine.paths.system("logs.tgz");
    await writeFile(file, "");
    await os.chown(file, "vcap");
    await os.chown(file, "vcap:vcap");
    expect(await stat(file)).toMatchObject({ uid, gid });
    await expect(os.chown(file, "other")).rejects.toSatisfy(UnknownUser.is);
    await expect(os.chown(file, "vcap:other")).rejects.toSatisfy(UnknownUser.is);
  });

  it("powers off", async () => {
    const { machine, system: os } = await system();
    await os.powerOff();
    expect(machine.lines()).toEqual(["shutdown -P 0"]);
  });
});
