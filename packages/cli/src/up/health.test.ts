import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@slipway/testkit/free-port";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { plays } from "@slipway/testkit/stories";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CloudHome } from "./testing/machine.ts";

const possible = needs("userns", await canUseSandboxes(), "sandboxes are made of namespaces");

/** Nothing takes nearly as long. */
const WITHIN = { timeout: 180_000, interval: 500 };

describe.runIf(possible)("a cloud on this machine whose sandboxes are killed", () => {
  let machine: CloudHome;
  beforeAll(async () => {
    machine = await CloudHome.open();
    const port = await freePort();
    const config = join(machine.home, "..", "director.json");
    await writeFile(config, JSON.stringify({ health: { interval_s: 1, unresponsive_after_s: 3 } }));
    const up = await machine.run("up", "--detach", "--port", String(port), "--config", config);
    expect(up).toMatchObject({ code: 0 });
    const demo = await machine.run("demo", "--range", `127.141.${port & 0xff}.0/24`);
    expect(demo).toMatchObject({ code: 0 });
  });
  afterAll(() => machine?.close());

  const rows = async (...args: readonly string[]): Promise<readonly Readonly<Record<string, string>>[]> => {
    const { said } = await machine.run(...args, "--json");
    // What is noted beside it comes first.
    const { Tables } = JSON.parse(said.slice(said.indexOf("{"))) as {
      Tables: { Rows: Record<string, string>[] }[];
    };
    return Tables[0]?.Rows ?? [];
  };
  const health = async () => (await rows("health")).map((one) => one.health);
  const vms = () => readdir(join(machine.home, "cloud", "vms"));
  const disks = () => readdir(join(machine.home, "cloud", "disks"));
  const kill = async (cid: string) =>
    process.kill(Number(await readFile(join(machine.home, "cloud", "vms", cid, "pid"), "utf8")), "SIGKILL");

  it.runIf(plays("director", "resurrection"))(
    "gives each a new one with its disk, by a task of its own, and all are well again",
    async () => {
      await expect.poll(health, WITHIN).toEqual(["healthy", "healthy"]);
      const [before, kept] = [await vms(), await disks()];
      const [first = ""] = before;
      await kill(first);
      await expect.poll(vms, WITHIN).not.toContain(first);
      await expect.poll(health, WITHIN).toEqual(["healthy", "healthy"]);
      expect(await vms()).toHaveLength(before.length);
      expect(await disks()).toEqual(kept);
      const tasks = await rows("tasks", "--recent", "--all");
      expect(tasks.filter(({ description }) => description === "scan and fix")).toMatchObject([
        { user: "health-monitor", state: "done", deployment: expect.any(String) },
      ]);
    },
  );

  it.runIf(plays("director", "resurrection off"))(
    "replaces none while resurrection is off, and says so",
    async () => {
      expect((await machine.run("update-resurrection", "off")).code).toBe(0);
      const [first = ""] = await vms();
      await kill(first);
      await expect
        .poll(() => rows("health", "--failing"), WITHIN)
        .toMatchObject([
          { health: "unresponsive", action: expect.stringContaining("update-resurrection on") },
        ]);
      expect(await vms()).toContain(first);
      expect((await machine.run("update-resurrection", "on")).code).toBe(0);
      await expect.poll(vms, WITHIN).not.toContain(first);
      await expect.poll(health, WITHIN).toEqual(["healthy", "healthy"]);
    },
  );
});
