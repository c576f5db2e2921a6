import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())("slipway up, with the CPI in its process", () => {
  const world = openWorld({ embedded: true });

  it("says how to point the CLI at it, and env shows it", async () => {
    const { bosh, director } = world();
    const env = world().state("..", "env");
    await expect.poll(() => director.output).toContain(`  . ${env}\n  bosh env\n`);
    const lines = await readFile(env, "utf8");
    expect(lines).toContain(`export BOSH_ENVIRONMENT='${director.url}'\n`);
    expect(lines).toContain(`export BOSH_CA_CERT='${world().state("pki", "ca.crt")}'\n`);
    expect(await bosh.rows("env")).toEqual([
      {
        name: "slipway",
        uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
        version: expect.stringMatching(/^\d+\.\d+\.\d+( \(\w{8}\))?$/),
        director_stemcell: "-/-",
        cpi: "local",
        features: "config_server: disabled\nlocal_dns: disabled\nsnapshots: disabled",
        user: "admin",
      },
    ]);
  });

  it("deploys a VM with a disk, shows it and takes it down", async () => {
    const { bosh } = world();
    await world().seed();
    await world().deploy("shop", [{ name: "db", disk: "small" }]);
    const [vm] = await bosh.rows("-d", "shop", "vms");
    expect(vm).toMatchObject({
      az: "z1",
      ips: `${world().net}.2`,
      vm_type: "default",
      stemcell: "story/1.0",
    });
    const [db] = await world().instances("shop");
    expect(existsSync(world().cloud("disks", db?.disk_cids ?? "none"))).toBe(true);
    await bosh.run("-d", "shop", "delete-deployment");
    expect(existsSync(world().cloud("vms", vm?.vm_cid ?? ""))).toBe(false);
    expect(await bosh.rows("deployments")).toEqual([]);
  });

  it("ends on SIGINT with 0 and nothing to complain about", async () => {
    expect(await world().director.stop()).toBe(0);
    expect(world().director.output).not.toMatch(/error/i);
    await world().start();
  });
});
