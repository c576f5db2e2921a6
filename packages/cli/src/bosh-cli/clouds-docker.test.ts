import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { execIn } from "@slipway/cpi-docker/engine/exec";
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

const engineNetwork = v.looseObject({
  Labels: v.record(v.string(), v.string()),
  IPAM: v.looseObject({ Config: v.array(v.looseObject({ Subnet: v.string() })) }),
});

describe.runIf(playable)("sandboxes and containers of one Director", () => {
  const world = openWorld({
    clouds: { programs: { local: PROGRAMS.cpi, docker: PROGRAMS.dockerCpi }, names: ["here"] },
    director: { enable_cpi_network_management: true },
  });
  let docker: DockerCloud;
  let uuid = "";
  beforeAll(async () => {
    docker = await DockerCloud.open();
  });
  afterAll(async () => {
    const { engine } = await docker.cloud();
    const query = { filters: labelled({ [LABEL.director]: uuid }) };
    const left = await engine.json(v.array(v.looseObject({ Id: v.string() })), {
      ...{ doing: "cleaning", method: "GET", path: "/networks", query },
    });
    for (const { Id } of left)
      await engine.attempt({ doing: "cleaning", method: "DELETE", path: `/networks/${Id}` });
    await docker.close();
  });

  const bosh = (...command: readonly string[]) => world().bosh.run(...command);
  const containers = async () => await listContainers(await docker.cloud(), { [LABEL.director]: uuid });
  const octet = () => world().director.port & 0xff;
  /** Subnets of the engine's networks that `create_network` made for this Director, by their cids. */
  const networksMade = async () => {
    const { engine } = await docker.cloud();
    const query = { filters: labelled({ [LABEL.director]: uuid, [LABEL.kind]: "network" }) };
    const found = await engine.json(v.array(engineNetwork), {
      ...{ doing: "looking", method: "GET", path: "/networks", query },
    });
    return found
      .filter(({ Labels }) => Labels[LABEL.made] === undefined)
      .map(({ IPAM }) => IPAM.Config.map(({ Subnet }) => Subnet).join());
  };
  const sandboxes = () => readdir(world().otherCloud("here", "vms")).catch(() => []);
  const HOST = [{ alias: "default", os: HOST_STEMCELL.os, version: "latest" }];
  /** `web` is a sandbox, `db` a container with a disk. */
  const shop = (dbZone: string) => ({
    ...manifest(
      "shop",
      { name: "web", azs: ["z1"] },
      { name: "db", azs: [dbZone], ...(dbZone === "z2" && { disk: "small" as const }) },
    ),
    stemcells: HOST,
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
    const subnet = (range: string, az: string) => ({
      range: `${range}.0/24`,
      gateway: `${range}.1`,
      azs: [az],
    });
    const subnets = [subnet(world().net, "z1"), subnet(`10.219.${octet()}`, "z2")];
    const made = { name: "one", ...subnet(`10.220.${octet()}`, "z2") };
    const networks = [
      { name: "private", type: "manual", subnets },
      { name: "made", type: "manual", managed: true, subnets: [made] },
    ];
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

  it("have a network that the engine is asked to make, until nobody wants it and it is deleted", async () => {
    const { instance_groups: groups, ...rest } = manifest("inner", { name: "web", azs: ["z2"] }) as {
      readonly instance_groups: readonly object[];
    };
    const inside = {
      ...{ ...rest, stemcells: HOST },
      instance_groups: groups.map((group) => ({ ...group, networks: [{ name: "made" }] })),
    };
    expect(await networksMade()).toEqual([]);
    const { text } = await bosh("-d", "inner", "deploy", await world().file("inner.yml", inside));
    expect(text).toContain("Creating managed networks: made");
    const range = `10.220.${octet()}`;
    expect(await networksMade()).toEqual([`${range}.0/24`]);
    const [{ ips = "", vm_cid: cid = "" } = {}] = await world().instances("inner");
    expect(ips).toBe(`${range}.2`);
    const { engine } = await docker.cloud();
    expect((await execIn(engine, cid, ["ip", "-o", "addr"], "looking for addresses")).stdout).toContain(
      ` ${range}.2/24 `,
    );
    await bosh("-d", "inner", "delete-deployment");
    expect(await world().bosh.rows("networks", "--orphaned")).toMatchObject([{ name: "made" }]);
    expect(await networksMade()).toEqual([`${range}.0/24`]);
    await bosh("delete-network", "made");
    expect(await networksMade()).toEqual([]);
    expect(await world().bosh.rows("networks", "--orphaned")).toEqual([]);
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
