import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId, RequestId } from "@slipway/protocol/ids";
import { parseUserData } from "@slipway/protocol/settings/user-data";
import { registryClient } from "@slipway/registry/client";
import { bundled } from "@slipway/testkit/bundle";
import { sampleOf } from "@slipway/testkit/sample";
import { describe, expect, it, onTestFinished } from "vitest";
import { tinyCpi } from "../../../../examples/tiny-cpi/src/tiny-cpi.ts";
import type { CallOptions } from "./cloud.ts";
import { makeClouds } from "./clouds.ts";
import type { CpiPort } from "./cpi-port.ts";
import { embeddedCpiPort } from "./embedded-cpi.ts";
import { execCpiPort } from "./exec-cpi.ts";
import { RegistryOfDirector } from "./registry-of-director.ts";
import { DIRECTOR, logBook, tempDir } from "./testing/cpi-files.ts";
import { createArgs, NETWORKS } from "./testing/scripted-cpi.ts";

const tiny = bundled("../../../../examples/tiny-cpi/src/main.ts", import.meta.url);

const PORTS: readonly (readonly [string, () => CpiPort])[] = [
  ["an executable", () => execCpiPort({ path: tiny(), clock: systemClock })],
  [
    "in this process",
    () =>
      embeddedCpiPort({
        name: "tiny",
        clock: systemClock,
        open: (around) => embed(tinyCpi, { ...around, config: {} }),
      }),
  ],
];

const embedded = () => (PORTS[1] as (typeof PORTS)[number])[1]();

const VERSIONS = [1, 2] as const;
const MIXES = VERSIONS.flatMap((director) =>
  VERSIONS.flatMap((cpi) => VERSIONS.map((stemcell) => ({ director, cpi, stemcell }))),
);

async function stage(port: CpiPort, director: 1 | 2 | 3, cpi: 1 | 2 | 3) {
  const dir = await tempDir();
  const place = join(dir, "cloud");
  const image = join(dir, "image");
  await writeFile(image, "an image");
  const registry = new RegistryOfDirector({
    stateDir: join(dir, "state"),
    port: 0,
    clock: systemClock,
    random: systemRandom,
  });
  onTestFinished(() => registry.close());
  const properties = { tiny: { dir: place }, debug: { cpi: { api_version: cpi } } };
  const clouds = makeClouds({
    cpis: [{ name: "", port, properties }],
    directorUuid: DIRECTOR,
    random: systemRandom,
    maxApiVersion: director,
    registry,
  });
  const book = logBook();
  const call = (more: Partial<CallOptions> = {}): CallOptions => ({
    requestId: `cpi-${systemRandom.hex(4)}` as RequestId,
    log: book.log,
    ...more,
  });
  const userData = async (cid: string) => {
    const parsed = parseUserData(await readFile(join(place, "vms", cid, "user-data.json"), "utf8"));
    if (!parsed.ok) throw new Error(`unusable user-data of ${cid}`);
    return parsed.userData;
  };
  return { cloud: clouds.cloud(""), registry, call, image, book, userData };
}

describe.each(PORTS)("the tiny CPI as %s", (name, port) => {
  // Each call of the executable is a process.
  it.each(name === "an executable" ? sampleOf("mixes of an executable", MIXES, 2) : MIXES)(
    "works with Director $director, CPI $cpi and stemcell $stemcell",
    async ({ director, cpi, stemcell }) => {
      const { cloud, registry, call, image, book, userData } = await stage(port(), director, cpi);
      const apiVersion = Math.min(director, cpi);
      const registryless = apiVersion === 2 && stemcell === 2;
      expect(await cloud.info()).toMatchObject({ apiVersion, repeatable: true });

      const stemcellCid = await cloud.createStemcell(image, {}, { team: "a" }, call());
      expect(registry.running).toBe(false);
      expect(await cloud.channelFor(stemcell)).toBe(registryless ? "user-data" : "registry");
      expect(registry.running).toBe(!registryless);

      const about = () => call({ stemcellApiVersion: stemcell });
      const agentId = systemRandom.uuid() as AgentId;
      const vm = await cloud.createVm(createArgs({ agentId, stemcellCid, diskCids: [] }), about());
      expect(vm.networks).toEqual(NETWORKS);
      const found = await userData(vm.cid);
      expect(found.form).toBe(registryless ? "settings" : "registry");

      const disk = await cloud.createDisk(64, {}, vm.cid, call());
      const { hint } = await cloud.attachDisk(vm.cid, disk, about());
      expect(hint !== undefined).toBe(apiVersion === 2);
      // The agent learns its id from this entry, and its disk unless it gets that another way.
      const endpoint = found.form === "registry" ? found.userData.registry.endpoint : undefined;
      const entry = async () => {
        const text = endpoint === undefined ? undefined : await registryClient({ endpoint }).get(vm.cid);
        return text === undefined ? undefined : (JSON.parse(text) as { agent_id: string; disks: object });
      };
      if (!registryless) {
        expect(await entry()).toMatchObject({
          agent_id: agentId,
          disks: { persistent: { [disk]: hint ?? {} } },
        });
      }
      await cloud.detachDisk(vm.cid, disk, about());
      if (!registryless) expect((await entry())?.disks).toMatchObject({ persistent: {} });

      await cloud.deleteVm(vm.cid, about());
      expect(await cloud.hasVm(vm.cid, call())).toBe(false);
      expect(await entry()).toBeUndefined();
      await cloud.deleteDisk(disk, call());
      await cloud.deleteStemcell(stemcellCid, call());
      expect(registry.running).toBe(!registryless);
      if (!registryless) expect(book.text).not.toContain((await registry.start()).password);
    },
  );
});

describe("a create that is repeated", () => {
  it("repeats nothing for a known request id, even with a fresh certificate; a short id compares arguments", async () => {
    const { cloud, call, image } = await stage(embedded(), 3, 3);
    const once = call({ stemcellApiVersion: 2 });
    const stemcellCid = await cloud.createStemcell(image, {}, {}, once);
    expect(await cloud.createStemcell(image, {}, {}, once)).toBe(stemcellCid);
    const args = createArgs({ stemcellCid, diskCids: [] });
    const { cid } = await cloud.createVm(args, once);
    expect((await cloud.createVm(args, once)).cid).toBe(cid);
    const otherEnv = { ...args, env: { bosh: { mbus: { cert: { private_key: "another" } } } } };
    expect((await cloud.createVm(otherEnv, once)).cid).toBe(cid);

    const short = { ...once, requestId: "cpi-123456" as RequestId };
    const other = await cloud.createVm(args, short);
    expect((await cloud.createVm(otherEnv, short)).cid).not.toBe(other.cid);
  });
});

describe("the Director's registry", () => {
  it("is not started for a CPI that has another one", async () => {
    const port = embedded();
    const seen: unknown[] = [];
    const registry = new RegistryOfDirector({
      stateDir: await tempDir(),
      port: 0,
      clock: systemClock,
      random: systemRandom,
    });
    const properties = { registry: { endpoint: "http://10.0.0.1:25777" }, tiny: { dir: await tempDir() } };
    const recording: CpiPort = {
      ...port,
      call: (request, options) => {
        seen.push(request.context.registry);
        return port.call(request, options);
      },
    };
    const clouds = makeClouds({
      cpis: [{ name: "", port: recording, properties }],
      directorUuid: DIRECTOR,
      random: systemRandom,
      maxApiVersion: 1,
      registry,
    });
    expect(await clouds.cloud("").channelFor(1)).toBe("registry");
    expect(registry.running).toBe(false);
    expect(seen).toEqual([properties.registry]);
  });

  it("is passed only to the methods that use it", async () => {
    const port = embedded();
    const told: Record<string, boolean> = {};
    const recording: CpiPort = {
      ...port,
      call: (request, options) => {
        told[request.method] = request.context.registry !== undefined;
        return port.call(request, options);
      },
    };
    const { cloud, call, image } = await stage(recording, 1, 1);
    const stemcellCid = await cloud.createStemcell(image, {}, {}, call());
    const { cid } = await cloud.createVm(
      createArgs({ stemcellCid, diskCids: [] }),
      call({ stemcellApiVersion: 1 }),
    );
    await cloud.hasVm(cid, call({ stemcellApiVersion: 1 }));
    await cloud.deleteVm(cid, call({ stemcellApiVersion: 1 }));
    expect(told).toEqual({
      info: false,
      create_stemcell: false,
      create_vm: true,
      has_vm: false,
      delete_vm: true,
    });
  });
});
