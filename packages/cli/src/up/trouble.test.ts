import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { LOG_LIMIT } from "@slipway/kernel/resilient-output";
import { addressOctet } from "@slipway/testkit/address-octet";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { plays } from "@slipway/testkit/stories";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CloudHome } from "./testing/machine.ts";

const sandboxes = needs("userns", await canUseSandboxes(), "VMs are processes with mounts of their own");

const TOO_LONG = "an older line\n".repeat(LOG_LIMIT / 8);

describe.runIf(sandboxes)("a Director in trouble", () => {
  let machine: CloudHome;
  beforeAll(async () => {
    machine = await CloudHome.open();
    expect((await machine.run("up", "--detach", "--port", String(await freePort()))).code).toBe(0);
  });
  afterAll(() => machine?.close());

  it.runIf(plays("director", "database in trouble"))(
    "whose database cannot be started says so in its status, and goes on by itself once it can",
    async () => {
      const before = await machine.status();
      const settings = join(machine.home, "director", "database", "data", "postgresql.auto.conf");
      const fine = await readFile(settings, "utf8");
      await writeFile(settings, `${fine}\nno_such_setting = 1\n`);
      const log = join(machine.home, "director.log");
      await appendFile(log, TOO_LONG);
      process.kill(Number(/\d+/.exec(before.database ?? "")?.[0]), "SIGKILL");
      await expect
        .poll(async () => (await machine.status()).problems)
        .toMatch(/the database server could not be started|no_such_setting/);
      expect((await machine.status()).process).toBe(before.process);
      await writeFile(settings, fine);
      await expect.poll(async () => (await machine.status()).problems).toBeUndefined();
      expect(await machine.run("deployments")).toMatchObject({ code: 0 });
      expect((await machine.status()).process).toBe(before.process);
      // What it had to say of it, again and again, did not make its log longer than it may be.
      expect((await stat(log)).size).toBeLessThan(LOG_LIMIT);
      expect(await readFile(log, "utf8")).toContain("no_such_setting");
    },
  );

  const agents = plays("director", "agents in trouble");
  it.runIf(agents)("has agents whose logs stay short, whatever connects to them", async () => {
    // Addresses of its own: suites run side by side.
    const demo = await machine.run("demo", "--range", `127.121.${addressOctet()}.0/24`);
    expect(demo.code, demo.said).toBe(0);
    const { said } = await machine.run("--json", "-d", "demo", "vms");
    const [row] =
      (JSON.parse(said) as { Tables: { Rows: { ips: string; vm_cid: string }[] }[] }).Tables[0]?.Rows ?? [];
    const log = join(machine.home, "cloud", "vms", row?.vm_cid ?? "", "agent.log");
    await appendFile(log, TOO_LONG);
    const stranger = connect(6868, row?.ips);
    stranger.on("error", () => undefined).end("no TLS at all\n");
    await expect.poll(async () => (await stat(log)).size).toBeLessThan(LOG_LIMIT);
  });

  it.runIf(agents)("names the agent it waits for, since when and how much longer", async () => {
    const vms = join(machine.home, "cloud", "vms");
    for (const vm of await readdir(vms))
      process.kill(Number(await readFile(join(vms, vm, "pid"), "utf8")), "SIGKILL");
    const deploying = machine.start("-n", "-d", "demo", "deploy", join(machine.home, "demo", "demo.yml"));
    await deploying.says("has not answered");
    expect(deploying.output).toMatch(
      /\w+\/[0-9a-f-]{36}: agent [0-9a-f-]{36} at 127\.121\.\d+\.\d+:6868 has not answered get_state for \d+ s, and is given 45 s: /,
    );
    await deploying.kill();
  });
});
