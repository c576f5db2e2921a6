import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openEmbedded } from "@slipway/director/store/embedded/open";
import { withClient } from "@slipway/director/store/embedded/probe";
import { systemClock } from "@slipway/kernel/clock";
import { freePort } from "@slipway/testkit/free-port";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CloudHome } from "./testing/machine.ts";

const CPI = `#!/usr/bin/env node
process.stdin.resume().on("end", () => {
  process.stdout.write(JSON.stringify({ result: { api_version: 2, stemcell_formats: [] }, error: null, log: "" }));
});
`;

let machine: CloudHome;
let config: string;
let cpi: string;
beforeAll(async () => {
  machine = await CloudHome.open();
  const at = (name: string) => join(machine.home, "..", name);
  config = at("director.json");
  cpi = at("cpi");
  await writeFile(cpi, CPI, { mode: 0o755 });
  await writeFile(config, text());
});
afterAll(() => machine.close());

const text = () =>
  JSON.stringify({
    name: "lab",
    cpi: { exec_path: cpi },
    users: [{ name: "operator", password: "CANARY-password" }],
    health: { enabled: false },
  });

const refused = (code: string) => ({ code: 1, said: expect.stringContaining(code) });
const up = (...flags: readonly string[]) => machine.run("up", "--detach", ...flags);

/** Works on the records of a home whose Director is stopped. */
async function inRecords(sql: string): Promise<void> {
  const embedded = await openEmbedded({ stateDir: join(machine.home, "director"), clock: systemClock });
  try {
    await withClient(embedded.connection, (client) => client.query(sql));
  } finally {
    await embedded.close();
  }
}

describe("a home that was started with a configuration", () => {
  it("starts with it again without --config: the same CPI, users and name, and no generated user", async () => {
    expect(await up("--port", String(await freePort()), "--config", config)).toMatchObject({ code: 0 });
    expect(await machine.run("down")).toMatchObject({ code: 0 });
    await inRecords(`insert into orphan_disks (cid, size, cloud_properties, cpi, deployment_name, instance_name)
      values ('disk-kept', 9, '{}', '', 'shop', 'db/0')`);
    expect(await up()).toMatchObject({ code: 0 });
    expect(await machine.text("env")).not.toContain("BOSH_CLIENT");
    expect(await machine.run("env", "--json")).toMatchObject({
      said: expect.stringContaining('"name": "lab"'),
    });
  });

  it("refuses another configuration by name, also while the Director runs", async () => {
    const other = join(machine.home, "..", "other.json");
    await writeFile(other, text());
    for (const running of [true, false]) {
      if (!running) await machine.run("down");
      const { code, said } = await up("--config", other);
      expect({ code, said }).toEqual(refused("CLU-014"));
      expect(said).toContain(config);
      expect(said).toContain(other);
    }
    expect(await up("--config", other, "--accept", "config")).toMatchObject({ code: 0 });
    await machine.run("down");
    expect(await up("--config", config)).toEqual(refused("CLU-014"));
    // The remembered file was moved.
    await rm(other);
    expect(await up("--config", config)).toMatchObject({ code: 0 });
    await machine.run("down");
  });

  it("is refused without it: first by name, then for its users, then for its CPI, and changes nothing", async () => {
    await rm(config);
    const { code, said } = await up();
    expect({ code, said }).toEqual(refused("CLU-015"));
    expect(said).toContain(config);
    expect(await up("--no-config")).toEqual(refused("DIR-0"));
    const withoutUsers = await up("--no-config", "--accept", "users,name");
    expect(withoutUsers).toEqual(refused("DIR-008"));
    expect(withoutUsers.said).toContain(cpi);
    await writeFile(config, text());
    expect(await up()).toMatchObject({ code: 0 });
    await machine.run("down");
  });

  it("names what its removal leaves in the cloud, and asks", async () => {
    await inRecords(`insert into stemcells (name, version, operating_system, cid, digest, cpi, api_version)
      values ('tiny', '1', 'none', 'stemcell-kept', '', '', 2)`);
    const asked = await machine.run("down", "--remove");
    expect(asked).toEqual(refused("CLI-030"));
    expect(asked.said).toContain(`In the cloud of the CPI ${cpi} these stay, and nothing will know them:`);
    expect(asked.said).toContain("1 orphaned disk:\n    disk-kept (shop, db/0)");
    expect(asked.said).toContain("1 stemcell:\n    stemcell-kept (tiny/1)");
    expect(await machine.text("config.json")).toContain(config);
    expect(await machine.run("down", "--remove", "-n")).toMatchObject({
      code: 0,
      said: expect.stringContaining(`Removed ${machine.home}.`),
    });
  });
});
