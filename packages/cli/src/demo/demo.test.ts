import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { acquireLock } from "@slipway/kernel/lock-file";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { chosen } from "@slipway/testkit/sample";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Machine } from "../up/testing/machine.ts";

const possible = needs("userns", await canUseSandboxes(), "sandboxes are made of namespaces");

describe.runIf(possible)("slipway demo", () => {
  let machine: Machine;
  let flags: readonly string[];
  beforeAll(async () => {
    machine = await Machine.open();
    const port = await freePort();
    flags = ["--port", String(port), "--range", `127.140.${port & 0xff}.0/24`];
  });
  afterAll(() => machine?.close());

  const things = (room: string) => readdir(join(machine.home, "cloud", room));
  const diskIn = (output: string) => /disk-\w+/.exec(output)?.[0];

  it("deploys, writes, replaces the sandbox, finds the note, and stops all of it at Ctrl-C", async () => {
    const demo = machine.start("demo", ...flags);
    await demo.says("The Director runs until Ctrl-C");
    const note = /put there by the agent: "(.+?)"/.exec(demo.output)?.[1];
    expect(demo.output).toContain(`read by the agent of the new one: "${note}"`);
    expect(demo.output).toContain("The data is still there");
    expect(demo.output).toContain("No registry was involved");
    expect(demo.output).toContain("by user-data");
    expect(demo.output.split("\n").length).toBeLessThan(35);
    expect(await machine.status()).toMatchObject({ sandboxes: "1 running", disks: "1" });
    demo.interrupt();
    demo.interrupt();
    expect(await demo.end()).toBe(0);
    expect(machine.processes()).toEqual([]);
    expect(await machine.status()).toMatchObject({ sandboxes: "1 stopped", disks: "1" });
  });

  it.runIf(chosen("demo killed", 1 / 2))(
    "killed in the middle it completes when it is run again, with the same disk and nothing beside it",
    async () => {
      const killed = machine.start("demo");
      await killed.says("A note on the disk");
      await killed.kill();
      const demo = machine.start("demo");
      await demo.says("The data is still there");
      expect(diskIn(demo.output)).toBe(diskIn(killed.output));
      expect(await things("disks")).toEqual([diskIn(demo.output)]);
      expect(await things("vms")).toHaveLength(1);
      await demo.says("The Director runs until Ctrl-C");
      demo.interrupt();
      expect(await demo.end()).toBe(0);
      expect(machine.processes()).toEqual([]);
    },
  );

  it.runIf(chosen("demo on a Director", 1 / 3))(
    "uses a Director that runs already, and leaves it running; one is played at a time",
    async () => {
      expect((await machine.run("up", "--detach")).code).toBe(0);
      const before = await machine.status();
      const lock = await acquireLock(join(machine.home, "demo.lock"), { clock: systemClock, waitMs: 0 });
      expect((await machine.run("demo")).said).toMatch(/CLU-027 another demo .*: process \d+/);
      await lock.release();
      const { code, said } = await machine.run("demo");
      expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("The data is still there") });
      expect(await machine.status()).toMatchObject({ process: before.process, sandboxes: "1 running" });
      expect((await machine.run("down")).said).toContain("1 sandbox");
      expect(machine.processes()).toEqual([]);
    },
  );

  it("is stopped by Ctrl-C wherever it is, and nothing runs on", async () => {
    const demo = machine.start("demo");
    await demo.says("Cloud config");
    demo.interrupt();
    expect(await demo.end()).toBe(130);
    expect(machine.processes()).toEqual([]);
  });
});
