import { X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { HEALTH_MONITOR_NAME } from "@slipway/engine/agents/nats/names";
import { openAuthority } from "@slipway/engine/pki/authority";
import { systemClock } from "@slipway/kernel/clock";
import { dial, readNatsUrl } from "@slipway/kernel/nats/dial";
import { systemRandom } from "@slipway/kernel/random";
import { freePort } from "@slipway/testkit/free-port";
import { natsServerAvailable } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { plays } from "@slipway/testkit/stories";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { CloudHome } from "./testing/machine.ts";

const sandboxes = needs("userns", await canUseSandboxes(), "sandboxes are made of namespaces");
const server = needs("nats-server", natsServerAvailable(), "the program nats-server is not installed");

const agents = plays("director", "NATS agents");
const authority = plays("director", "NATS authority");
const serverKilled = plays("director", "NATS server killed");
const directorKilled = plays("director", "NATS Director killed");
const restored = plays("director", "NATS restored");
const toHttps = plays("director", "NATS to HTTPS");

interface VmRow {
  readonly agent_id: string;
  readonly job: string;
  readonly permanent_nats_credentials: boolean;
  readonly slipway: { readonly agent_url: string };
}

describe.runIf(sandboxes && server)("slipway up --nats", () => {
  let machine: CloudHome;
  let flags: readonly string[];
  let range: string;
  beforeAll(async () => {
    machine = await CloudHome.open();
    const port = await freePort();
    flags = ["--detach", "--port", String(port)];
    range = `127.143.${port & 0xff}.0/24`;
  });
  afterAll(() => machine?.close());

  const ok = async (...args: readonly string[]) => {
    const { code, said } = await machine.run(...args);
    expect({ code, said }).toEqual({ code: 0, said });
    return said;
  };
  const vms = async () => JSON.parse(await ok("curl", "/deployments/demo/vms")) as readonly VmRow[];
  const urls = async () =>
    Object.fromEntries((await vms()).map(({ job, slipway }) => [job, slipway.agent_url.replace(/:.*/, "")]));
  const states = async () => {
    const said = JSON.parse(await ok("-d", "demo", "instances", "--json")) as {
      Tables: { Rows: { process_state: string }[] }[];
    };
    return said.Tables[0]?.Rows.map(({ process_state }) => process_state);
  };
  const natsFile = (name: string) => join(machine.home, "director", "nats", name);
  const natsPid = () => (JSON.parse(readFileSync(natsFile("process.json"), "utf8")) as { pid: number }).pid;
  const users = () =>
    [...readFileSync(natsFile("nats.conf"), "utf8").matchAll(/CN=([^"]+)/g)].map(([, cn]) => cn);

  const any = agents || authority || serverKilled || directorKilled || restored || toHttps;
  it.runIf(any)(
    "deploys, compiles, runs an errand, and replaces a VM that keeps its disk, with every agent on NATS",
    async () => {
      await ok("up", "--nats", ...flags);
      const said = await ok("demo", "--range", range);
      expect(said).toContain("packages compiled in sandboxes of their own");
      expect(said).toMatch(/errand smoke.*the visit was counted/);
      expect(said).toContain("The count goes on");
      expect(await urls()).toEqual({ counter: "nats", visitor: "nats" });
      expect((await vms()).map((vm) => vm.permanent_nats_credentials)).toEqual([true, true]);
    },
  );

  it.runIf(agents)(
    "lets agents of VMs that are there take part, each by its lasting certificate, and nobody else",
    async () => {
      const there = (await vms()).map(({ agent_id }) => `${agent_id}.agent.bosh-internal`);
      const own = ["default.director.bosh-internal", "default.hm.bosh-internal"];
      await expect.poll(() => users().sort(), { timeout: 60_000 }).toEqual([...own, ...there].sort());
    },
  );

  it.runIf(agents)(
    "hears how its agents are, so that they need not be asked, and tells monitors of what it does",
    async () => {
      const metric = async (name: string) =>
        Number(new RegExp(`^${name} (.*)$`, "m").exec(await ok("curl", "/metrics"))?.[1]);
      const beats = 'slipway_health_messages_total\\{kind="heartbeat"\\}';
      await expect.poll(() => metric(beats), { timeout: 120_000 }).toBeGreaterThanOrEqual(2);
      expect(await metric("slipway_health_nats_connected")).toBe(1);
      const authority = await openAuthority({
        dir: join(machine.home, "director", "pki"),
        clock: systemClock,
        random: systemRandom,
      });
      const subject = { subject: "bosh", commonName: HEALTH_MONITOR_NAME, usage: "client" } as const;
      const issued = await authority.issue({ ...subject, sans: { dns: [], ips: [] }, days: 1 });
      const { listen } = JSON.parse(readFileSync(natsFile("nats.conf"), "utf8")) as { listen: string };
      const credentials = { ...issued, ca: authority.ca };
      const monitor = await dial(readNatsUrl(`nats://${listen}`), credentials, "test", systemClock);
      onTestFinished(() => monitor.close());
      const heard: { title: string; deployment: string }[] = [];
      monitor.subscribe("hm.director.alert", { callback: (_, message) => void heard.push(message.json()) });
      await monitor.flush();
      await ok("-d", "demo", "restart", "visitor", "-n");
      await expect
        .poll(() => heard.map(({ title, deployment }) => `${deployment}: ${title}`), { timeout: 60_000 })
        .toEqual(["demo: director - begin update deployment", "demo: director - finish update deployment"]);
    },
  );

  it.runIf(agents)("fetches logs, which NATS does not carry", async () => {
    expect(await ok("-d", "demo", "logs", "--dir", machine.home)).toContain("Downloaded logs to");
  });

  it.runIf(authority)(
    "rotate-nats-ca lets another authority sign for server and agents, with the VMs that are there",
    async () => {
      const agents = async () => (await vms()).map(({ agent_id }) => agent_id);
      const before = await agents();
      const old = readFileSync(natsFile("clients.crt"), "utf8");
      expect(await ok("rotate-nats-ca", "-n")).toContain("Renewing certificates");
      const now = readFileSync(natsFile("clients.crt"), "utf8");
      expect(now).not.toContain(old.trim());
      expect(now.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
      const [authority, server] = [now, readFileSync(natsFile("server.crt"), "utf8")].map(
        (pem) => new X509Certificate(pem),
      );
      expect(authority && server?.verify(authority.publicKey)).toBe(true);
      expect(await agents()).toEqual(before);
      expect(await states()).toEqual(["running", "running"]);
    },
  );

  it.runIf(serverKilled)(
    "a server that dies in the middle of a recreate is started again, and the recreate goes on",
    async () => {
      const recreate = machine.start("-d", "demo", "recreate", "-n");
      await recreate.says("creating vm");
      const before = natsPid();
      process.kill(before, "SIGKILL");
      expect({ code: await recreate.end(), said: recreate.output }).toMatchObject({ code: 0 });
      expect(natsPid()).not.toBe(before);
      expect(await states()).toEqual(["running", "running"]);
    },
  );

  it.runIf(directorKilled)(
    "a server that a killed Director has left is replaced, and agents find the new one",
    async () => {
      const left = natsPid();
      process.kill(Number((await machine.status()).process), "SIGKILL");
      await ok("up", "--detach");
      expect(natsPid()).not.toBe(left);
      expect(machine.processes()).not.toContain(String(left));
      await expect.poll(states, { timeout: 60_000 }).toEqual(["running", "running"]);
    },
  );

  it.runIf(restored)(
    "a VM that was made after a backup is let on NATS again, and adopted because its agent says whose it is there",
    async () => {
      const before = (await vms()).map(({ agent_id }) => agent_id);
      const file = join(machine.home, "before.backup");
      await ok("backup", file);
      await ok("-d", "demo", "recreate", "visitor", "-n");
      const made = (await vms()).map(({ agent_id }) => agent_id).filter((id) => !before.includes(id));
      expect(made).toHaveLength(1);
      await ok("down");
      await ok("restore", "--replace", file);
      await ok("up", ...flags);
      expect((await vms()).map(({ agent_id }) => agent_id)).not.toContain(made[0]);
      const check = (...args: readonly string[]) => machine.run("-d", "demo", "cloud-check", ...args);
      expect(await check("--report")).toMatchObject({
        code: 1,
        said: expect.stringContaining("no record names it"),
      });
      const { code, said } = await check("--resolution", "adopt_vm", "-n");
      expect({ code, said }).toMatchObject({ code: 0 });
      expect(await check("--report")).toMatchObject({ code: 0 });
      expect((await vms()).map(({ agent_id }) => agent_id)).toContain(made[0]);
      await expect.poll(states, { timeout: 60_000 }).toEqual(["running", "running"]);
    },
  );

  it.runIf(toHttps)(
    "--https makes new VMs that are reached over HTTPS, beside those on NATS, and a VM changes by recreate",
    async () => {
      await ok("down");
      expect(machine.processes()).toEqual([]);
      await ok("up", "--https", ...flags);
      await expect.poll(states, { timeout: 60_000 }).toEqual(["running", "running"]);
      await ok("-d", "demo", "recreate", "visitor", "-n");
      expect(await urls()).toEqual({ counter: "nats", visitor: "https" });
      expect(await states()).toEqual(["running", "running"]);
      await ok("-d", "demo", "recreate", "counter", "-n");
      expect(await urls()).toEqual({ counter: "https", visitor: "https" });
    },
  );

  it("both flags at once are refused, and so is a file that was spoiled", async () => {
    await ok("down");
    expect(await machine.run("up", "--nats", "--https")).toEqual({
      code: 2,
      said: expect.stringContaining("CLU-040"),
    });
    await mkdir(machine.home, { recursive: true });
    await writeFile(join(machine.home, "nats.json"), "{");
    expect(await machine.run("up", ...flags)).toEqual({
      code: 1,
      said: expect.stringContaining("CLU-042"),
    });
  });
});
