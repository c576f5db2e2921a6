import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { LABEL, labelled } from "@slipway/cpi-docker/labels";
import { listContainers } from "@slipway/cpi-docker/vms/containers";
import { systemClock } from "@slipway/kernel/clock";
import { DockerCloud, engineTrouble } from "@slipway/testkit/docker-cloud";
import { needs } from "@slipway/testkit/needs";
import * as v from "valibot";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildHostStemcell, HOST_STEMCELL } from "../stemcells/build-host.ts";
import { cloudConfig, manifest } from "./testing/documents.ts";
import { canPlay, PROGRAMS } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const trouble = await engineTrouble();
const playable = needs("docker", trouble === undefined, trouble) && (await canPlay());

describe.runIf(playable)("sandboxes and containers of one Director", () => {
  const world = openWorld({
    clouds: { programs: { local: PROGRAMS.cpi, docker: PROGRAMS.dockerCpi }, names: ["here"] },
  });
  let docker: DockerCloud;
  let uuid = "";
  beforeAll(async () => {
    docker = await DockerCloud.open();
  });
  afterAll(async () => {
    const { engine } = await docker.cloud();
    const query = { filters: labelled({ [LABEL.director]: uuid }) };
    const networks = await engine.json(v.array(v.looseObject({ Id: v.string() })), {
      ...{ doing: "cleaning", method: "GET", path: "/networks", query },
    });
    for (const { Id } of networks)
      await engine.attempt({ doing: "cleaning", method: "DELETE", path: `/networks/${Id}` });
    await docker.close();
  });

  const bosh = (...command: readonly string[]) => world().bosh.run(...command);
  const containers = async () => await listContainers(await docker.cloud(), { [LABEL.director]: uuid });
  const sandboxes = () => readdir(world().otherCloud("here", "vms")).catch(() => []);
  /** `web` is a sandbox, `db` a container with a disk. */
  const shop = (dbZone: string) => ({
    ...manifest(
      "shop",
      { name: "web", azs: ["z1"] },
      { name: "db", azs: [dbZone], ...(dbZone === "z2" && { disk: "small" as const }) },
    ),
    stemcells: [{ alias: "default", os: HOST_STEMCELL.os, version: "latest" }],
  });
  const deploy = async (zone: string) =>
    await bosh("-d", "shop", "deploy", await world().file("shop.yml", shop(zone)));

  it("are made by the CPI of their zone, from one upload", async () => {
    uuid = (await world().bosh.rows("env"))[0]?.uuid ?? "";
    const local = { dir: world().otherCloud("here"), agent: PROGRAMS.agent, disks: "directory" };
    const cpis = [
      { name: "here", type: "local", properties: { local } },
      { name: "engine", type: "docker", properties: { docker: docker.config } },
    ];
    await bosh("update-cpi-config", await world().file("cpis.yml", { cpis }));
    const azs = [
      { name: "z1", cpi: "here" },
      { name: "z2", cpi: "engine" },
    ];
    const { port } = world().director;
    const subnet = (range: string, az: string) => ({
      range: `${range}.0/24`,
      gateway: `${range}.1`,
      azs: [az],
    });
    const subnets = [subnet(world().net, "z1"), subnet(`10.219.${port & 0xff}`, "z2")];
    const networks = [{ name: "private", type: "manual", subnets }];
    const config = { ...cloudConfig(world().net, azs), networks };
    await bosh("update-cloud-config", await world().file("cloud.yml", config));
    const to = join(world().dir, "host.tgz");
    await buildHostStemcell({ to, agent: PROGRAMS.agent, clock: systemClock });
    await bosh("upload-stemcell", to);
    expect((await world().bosh.rows("stemcells")).map(({ cpi }) => cpi).sort()).toEqual(["engine", "here"]);
    await deploy("z2");
    expect([(await sandboxes()).length, (await containers()).length]).toEqual([1, 1]);
    const rows = await world().bosh.rows("-d", "shop", "instances");
    expect(rows.map(({ az }) => az).sort()).toEqual(["z1", "z2"]);
  });

  it("are found by cloud-check, and made anew where they were", async () => {
    const [container] = await containers();
    await bosh("-d", "shop", "recreate", "db");
    expect((await containers()).map(({ cid }) => cid)).not.toEqual([container?.cid]);
    const { text } = await bosh("-d", "shop", "cloud-check", "--report");
    for (const found of ["2 OK, 0 unresponsive, 0 missing", "1 OK, 0 missing"]) expect(text).toContain(found);
    expect([(await sandboxes()).length, (await containers()).length]).toEqual([1, 1]);
  });

  it("change places by another zone; the disk stays in its cloud, orphaned", async () => {
    await deploy("z1");
    expect([(await sandboxes()).length, (await containers()).length]).toEqual([2, 0]);
    const orphans = await world().bosh.rows("disks", "--orphaned");
    expect(orphans).toMatchObject([{ az: "z2" }]);
  });

  it("are gone from both at the end", async () => {
    await bosh("-d", "shop", "delete-deployment");
    await bosh("clean-up", "--all");
    expect([await sandboxes(), await containers()]).toEqual([[], []]);
    expect(await world().bosh.rows("disks", "--orphaned")).toEqual([]);
    expect(await world().bosh.rows("stemcells")).toEqual([]);
  });
});
