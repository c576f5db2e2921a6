import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { acquireLock } from "@slipway/kernel/lock-file";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { plays } from "@slipway/testkit/stories";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CloudHome } from "../up/testing/machine.ts";

const possible = needs("userns", await canUseSandboxes(), "sandboxes are made of namespaces");

describe.runIf(possible)("slipway demo", () => {
  let machine: CloudHome;
  let flags: readonly string[];
  beforeAll(async () => {
    machine = await CloudHome.open();
    const port = await freePort();
    flags = ["--port", String(port), "--range", `127.140.${port & 0xff}.0/24`];
  });
  afterAll(() => machine?.close());

  const things = (kind: string) => readdir(join(machine.home, "cloud", kind));
  const countsIn = (output: string) =>
    [...output.matchAll(/Visits: (\d+)/g)].map(([, count]) => Number(count));
  const drainedIn = (output: string) => Number([...output.matchAll(/Last drained at (\d+)/g)].at(-1)?.[1]);
  const diskIn = (output: string) => /disk-\w+/.exec(output)?.[0];

  it.runIf(plays("director", "demo"))(
    "deploys a release, replaces the sandbox of its job, finds the count, and stops all of it at Ctrl-C",
    async () => {
      const demo = machine.start("demo", ...flags);
      await demo.says("The Director runs until Ctrl-C");
      const [first = 0, second = 0] = countsIn(demo.output);
      expect(first).toBeGreaterThan(0);
      expect(second).toBeGreaterThan(first);
      expect(drainedIn(demo.output)).toBeGreaterThan(first);
      expect(demo.output).toContain("packages compiled in sandboxes of their own");
      expect(demo.output).toContain("counter_ca, counter_password, counter_tls: made by the Director");
      expect(demo.output).toMatch(/errand smoke.*the visit was counted/);
      expect(demo.output).toContain("The count goes on");
      expect(demo.output).toContain("No registry was involved");
      expect(demo.output).toContain("by user-data");
      expect(demo.output.split("\n").length).toBeLessThan(35);
      expect(await machine.status()).toMatchObject({ sandboxes: "2 running", disks: "1" });
      demo.interrupt();
      demo.interrupt();
      expect(await demo.end()).toBe(0);
      expect(machine.processes()).toEqual([]);
      expect(await machine.status()).toMatchObject({ sandboxes: "2 stopped", disks: "1" });
    },
  );

  it.runIf(plays("director", "demo killed"))(
    "killed in the middle it completes when it is run again, with the same disk and nothing beside it",
    async () => {
      const killed = machine.start("demo", ...flags);
      await killed.says("The errand smoke");
      await killed.kill();
      const demo = machine.start("demo", ...flags);
      await demo.says("The count goes on");
      expect(diskIn(demo.output)).toBe(diskIn(killed.output));
      expect(await things("disks")).toEqual([diskIn(demo.output)]);
      expect(await things("vms")).toHaveLength(2);
      expect(drainedIn(demo.output)).toBeGreaterThanOrEqual(countsIn(killed.output)[0] ?? 0);
      await demo.says("The Director runs until Ctrl-C");
      demo.interrupt();
      expect(await demo.end()).toBe(0);
      expect(machine.processes()).toEqual([]);
    },
  );

  it.runIf(plays("director", "demo on a Director"))(
    "uses a Director that runs already, and leaves it running; one is played at a time",
    async () => {
      expect((await machine.run("up", "--detach", "--port", flags[1] ?? "")).code).toBe(0);
      const before = await machine.status();
      const lock = await acquireLock(join(machine.home, "demo.lock"), { clock: systemClock, waitMs: 0 });
      expect((await machine.run("demo", ...flags)).said).toMatch(/CLU-027 another demo .*: process \d+/);
      await lock.release();
      const { code, said } = await machine.run("demo", ...flags);
      expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("The count goes on") });
      expect(await machine.status()).toMatchObject({ process: before.process, sandboxes: "2 running" });
      expect((await machine.run("down")).said).toContain("2 sandboxes");
      expect(machine.processes()).toEqual([]);
    },
  );

  it.runIf(plays("director", "demo stopped"))(
    "is stopped by Ctrl-C wherever it is, and nothing runs on",
    async () => {
      const demo = machine.start("demo", ...flags);
      await demo.says("Cloud config");
      demo.interrupt();
      expect(await demo.end()).toBe(130);
      expect(machine.processes()).toEqual([]);
    },
  );
});
