import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import type { AgentId, RequestId } from "@slipway/protocol/ids";
import { registryClient } from "@slipway/registry/client";
import { bundled } from "@slipway/testkit/bundle";
import { describe, expect, it, onTestFinished } from "vitest";
import type { CallOptions } from "./cloud.ts";
import { makeClouds } from "./clouds.ts";
import { VmWithoutRegistry } from "./errors.ts";
import { execCpiPort } from "./exec-cpi.ts";
import { RegistryOfDirector } from "./registry-of-director.ts";
import { cpiFile, DIRECTOR, tempDir } from "./testing/cpi-files.ts";
import { createArgs } from "./testing/scripted-cpi.ts";

const tiny = bundled("../../../../examples/tiny-cpi/src/main.ts", import.meta.url);
const STEMCELL = 2;

/** A Director that goes on while the configuration of its CPI executable is replaced by another version's. */
async function stage(first: 1 | 2) {
  const dir = await tempDir();
  const image = join(dir, "image");
  await writeFile(image, "an image");
  const configFile = join(dir, "cpi.json");
  const become = (version: 1 | 2) => {
    const properties = { tiny: { dir: join(dir, "cloud") }, debug: { cpi: { api_version: version } } };
    return writeFile(configFile, JSON.stringify({ cloud: { plugin: "tiny", properties } }));
  };
  await become(first);
  const registry = new RegistryOfDirector({
    stateDir: join(dir, "state"),
    port: 0,
    clock: systemClock,
    random: systemRandom,
  });
  onTestFinished(() => registry.close());
  const clouds = makeClouds({
    cpis: [{ name: "", port: execCpiPort({ path: tiny(), configFile, clock: systemClock }) }],
    directorUuid: DIRECTOR,
    random: systemRandom,
    registry,
  });
  const cloud = clouds.cloud("");
  const call = (more: Partial<CallOptions> = {}): CallOptions => ({
    requestId: `cpi-${systemRandom.hex(8)}` as RequestId,
    ...more,
  });
  const channel = await cloud.channelFor(STEMCELL);
  const about = () => call({ stemcellApiVersion: STEMCELL, channel });
  const stemcellCid = await cloud.createStemcell(image, {}, {}, call());
  const agentId = systemRandom.uuid() as AgentId;
  const vm = await cloud.createVm(createArgs({ agentId, stemcellCid, diskCids: [] }), about());
  const entry = async () => {
    if (!registry.running) return undefined;
    const { endpoint, user: username, password } = await registry.start();
    const text = await registryClient({ endpoint, username, password }).get(vm.cid);
    return text === undefined
      ? undefined
      : (JSON.parse(text) as { disks: { persistent: Readonly<Record<string, unknown>> } }).disks.persistent;
  };
  const disk = () => cloud.createDisk(64, {}, vm.cid, call());
  return { cloud, vm: vm.cid, channel, about, become, entry, disk, registry };
}

describe("a VM made with the registry, whose CPI is now one that does without", () => {
  it("keeps its entry: disks come and go there, and it goes with the VM", async () => {
    const { cloud, vm, channel, about, become, entry, disk } = await stage(1);
    expect(channel).toBe("registry");
    const [before, after] = [await disk(), await disk()];
    await cloud.attachDisk(vm, before, about());
    await become(2);
    expect((await cloud.info()).apiVersion).toBe(2);
    const { hint } = await cloud.attachDisk(vm, after, about());
    expect(hint).toBeDefined();
    expect(Object.keys((await entry()) ?? {}).sort()).toEqual([before, after].sort());
    await cloud.detachDisk(vm, before, about());
    expect(await entry()).toEqual({ [after]: hint });
    await cloud.deleteVm(vm, about());
    expect(await entry()).toBeUndefined();
  });
});

describe("a VM made without the registry, whose CPI is now one that needs it", () => {
  it("gets no further disk, and the error says to recreate it", async () => {
    const { cloud, vm, channel, about, become, disk } = await stage(2);
    expect(channel).toBe("user-data");
    const one = await disk();
    await become(1);
    const error = await cloud.attachDisk(vm, one, about()).catch((caught: unknown) => caught);
    expect(VmWithoutRegistry.is(error)).toBe(true);
    expect((error as { next: string }).next).toContain("Recreate the instance");
  });

  it("gives back its disk and goes, as recreating it needs", async () => {
    const { cloud, vm, about, become, disk, entry } = await stage(2);
    const one = await disk();
    await cloud.attachDisk(vm, one, about());
    await become(1);
    await cloud.detachDisk(vm, one, about());
    await cloud.deleteVm(vm, about());
    expect(await cloud.hasVm(vm, about())).toBe(false);
    expect(await entry()).toBeUndefined();
  });
});

describe("info", () => {
  const saying = (version: number) =>
    `#!/bin/sh\ncat >/dev/null\necho '{"result":{"stemcell_formats":[],"api_version":${version}},"error":null,"log":""}'\necho asked >> "$(dirname "$0")/asked"\n`;
  const cloudOf = (path: string, configFile?: string) =>
    makeClouds({
      cpis: [{ name: "", port: execCpiPort({ path, configFile, clock: systemClock }) }],
      directorUuid: DIRECTOR,
      random: systemRandom,
    }).cloud("");

  it("is asked again when the executable was replaced, and not before", async () => {
    const { path, dir } = await cpiFile(saying(1));
    const cloud = cloudOf(path);
    const asked = async () => (await readFile(join(dir, "asked"), "utf8")).trim().split("\n").length;
    expect((await cloud.info()).apiVersion).toBe(1);
    expect((await cloud.info()).apiVersion).toBe(1);
    expect(await asked()).toBe(1);
    await writeFile(path, `${saying(2)}# another\n`);
    expect((await cloud.info()).apiVersion).toBe(2);
    expect(await asked()).toBe(2);
  });

  it("is asked again when the configuration was replaced, or came only now", async () => {
    const { path, dir, note } = await cpiFile(saying(2));
    const configFile = join(dir, "cpi.json");
    const cloud = cloudOf(path, configFile);
    await cloud.info();
    for (const content of ["{}", '{"cloud":{}}']) {
      await writeFile(configFile, content);
      await cloud.info();
      await cloud.info();
    }
    expect(await note("asked")).toBe("asked\nasked\nasked\n");
  });
});
