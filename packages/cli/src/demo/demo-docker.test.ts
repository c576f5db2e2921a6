import { join } from "node:path";
import { engineTrouble, HOST } from "@slipway/testkit/docker-cloud";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CloudHome } from "../up/testing/machine.ts";
import { OnEngine } from "../up/testing/on-engine.ts";

const trouble = await engineTrouble();

describe.runIf(needs("docker", trouble === undefined, trouble))("slipway demo --cpi docker", () => {
  let machine: CloudHome;
  let engine: OnEngine;
  let flags: readonly string[];
  beforeAll(async () => {
    machine = await CloudHome.open();
    engine = await OnEngine.open(machine.home);
    const port = await freePort();
    const range = `10.219.${port & 0xff}.0/24`;
    flags = ["--cpi", "docker", "--docker-host", HOST, "--port", String(port), "--range", range];
  });
  afterAll(async () => {
    await machine?.run("down");
    await engine?.clear();
    await machine?.close();
  });

  const countsIn = (output: string) =>
    [...output.matchAll(/Visits: (\d+)/g)].map(([, count]) => Number(count));
  const diskIn = (output: string) => /disk-\w+/.exec(output)?.[0];

  it("addresses that a network of the engine has are refused, with the option that gives others", async () => {
    const { code, said } = await machine.run("demo", ...flags.slice(0, -1), await engine.defaultRange());
    expect({ code, said }).toEqual({
      code: 1,
      said: expect.stringMatching(/CLU-026 .*Docker network bridge/),
    });
    expect(said).toMatch(/next: .*--range/);
    expect(await engine.all()).toMatchObject({ vms: [], networks: [], volume: [] });
  });

  it("killed in the middle of its first deploy it completes when it is run again, with two containers and one disk", async () => {
    const killed = machine.start("demo", ...flags);
    await killed.says("Stemcell slipway");
    await expect
      .poll(() => engine.all(), { timeout: 240_000, interval: 20 })
      .toMatchObject({ vms: [expect.any(String), expect.any(String)] });
    await killed.kill();
    expect(killed.output).not.toContain("Deployment demo");
    const demo = machine.start("demo");
    await demo.says("The Director runs until Ctrl-C");
    const [first = 0, second = 0] = countsIn(demo.output);
    expect(first).toBeGreaterThan(0);
    expect(second).toBeGreaterThan(first);
    expect(demo.output).toMatch(/errand smoke.*the visit was counted/);
    expect(demo.output).toContain("Last drained at");
    expect(demo.output).toContain("The count goes on: a new container, the same disk.");
    expect(demo.output).toContain("No registry was involved");
    expect(demo.output).not.toMatch(/sandbox/i);
    expect((await engine.all()).vms).toHaveLength(2);
    expect(await machine.status()).toMatchObject({ containers: "2 running", disks: "1" });
    demo.interrupt();
    expect(await demo.end()).toBe(0);
    expect(demo.output).toContain(`2 containers run on, at ${HOST}.`);
    expect(machine.processes()).toEqual([]);
    expect(await machine.status()).toMatchObject({
      director: "stopped",
      containers: "2 running",
      disks: "1",
    });
  });

  it("a stemcell is made again if its image was removed", async () => {
    expect((await machine.run("up", "--detach")).code).toBe(0);
    await engine.untagStemcells();
    const { code, said } = await machine.run("demo");
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("The count goes on") });
    expect((await machine.run("down")).code).toBe(0);
  });

  it("a home with containers refuses the local CPI, and an engine other than its own", async () => {
    const { code, said } = await machine.run("up", "--cpi", "local");
    expect({ code, said }).toEqual({ code: 1, said: expect.stringContaining("CLU-031") });
    expect((await machine.run("up", "--docker-host", "unix:///nowhere")).said).toContain("CLU-033");
  });

  it("killed while it replaces the container it keeps the disk, and goes on with an old stemcell, by the registry", async () => {
    expect((await machine.run("up", "--detach")).code).toBe(0);
    const killed = machine.start("demo");
    await killed.says("The errand smoke");
    process.kill(Number((await machine.status()).process), "SIGKILL");
    await killed.kill();
    expect((await machine.run("up", "--detach")).code).toBe(0);
    const old = join(machine.home, "old.tgz");
    const build = ["--for", "docker", "--from-host", "--api-version", "1", "--version", "1", "--out", old];
    expect(await machine.run("stemcell", "build", ...build)).toMatchObject({ code: 0 });
    const { code, said } = await machine.run("demo", "--stemcell", old);
    expect({ code, said }).toEqual({ code: 0, said: expect.stringContaining("The count goes on") });
    expect(said).toContain("settings   by registry");
    expect(diskIn(said)).toBe(diskIn(killed.output));
    expect((await engine.all()).vms).toHaveLength(2);
    expect(await machine.status()).toMatchObject({ containers: "2 running", disks: "1" });
  });

  it("what the Director deletes is gone from the engine, and down leaves nothing of this machine", async () => {
    const disk = diskIn((await machine.run("-d", "demo", "instances", "--details")).said);
    for (const command of [
      ["-d", "demo", "delete-deployment"],
      ["delete-disk", disk ?? ""],
    ])
      expect(await machine.run("-n", ...command)).toMatchObject({ code: 0 });
    expect(await machine.status()).toMatchObject({ containers: "none", disks: "0" });
    const { said } = await machine.run("stemcells", "--json");
    const { Tables } = JSON.parse(said) as { Tables: { Rows: { name: string; version: string }[] }[] };
    const stemcells = Tables[0]?.Rows ?? [];
    expect(stemcells).toHaveLength(2);
    for (const { name, version } of stemcells)
      expect(await machine.run("-n", "delete-stemcell", `${name}/${version}`)).toMatchObject({ code: 0 });
    const { said: stopped } = await machine.run("down");
    expect(stopped).toContain("disks in the Docker volume slipway-disks-");
    expect(stopped).not.toContain("container");
    expect(machine.processes()).toEqual([]);
    await engine.clear();
    expect(await engine.all()).toEqual({ vms: [], diskHelpers: [], networks: [], images: [], volume: [] });
  });
});
