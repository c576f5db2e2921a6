import { existsSync } from "node:fs";
import { readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CpiResponse } from "@slipway/protocol/cpi/envelope";
import { replyOf, runCpi, startCpi, writeConfig } from "@slipway/testkit/executable";
import { type LiveRegistry, liveRegistry } from "@slipway/testkit/registry";
import { ask, type CpiRequestParts, errorOf, resultOf, vmArgs } from "@slipway/testkit/requests";
import { tempDir } from "@slipway/testkit/waiting";

/** The two ends of the contract: everything old, everything new. */
export const AGES: readonly (readonly [string, { readonly version: number; readonly stemcell: number }])[] = [
  ["old", { version: 1, stemcell: 1 }],
  ["new", { version: 2, stemcell: 2 }],
];

/** A directory as a cloud, the tiny CPI as an executable, and a caller of one age. */
export interface TinyCloud {
  readonly dir: string;
  readonly registry: LiveRegistry;
  readonly call: (method: string, args: readonly unknown[], asked?: CpiRequestParts) => Promise<CpiResponse>;
  readonly result: (method: string, ...args: unknown[]) => Promise<unknown>;
  readonly errorType: (method: string, ...args: unknown[]) => Promise<string>;
  readonly start: (
    method: string,
    args: readonly unknown[],
    asked: CpiRequestParts,
  ) => ReturnType<typeof startCpi>;
  /** The cids of one kind, as the directory has them. */
  readonly list: (kind: "vms" | "disks" | "stemcells" | "snapshots") => Promise<string[]>;
  readonly sizeOf: (diskCid: string) => Promise<number>;
  readonly settingsOf: (vmCid: string) => Promise<unknown>;
  readonly image: string;
}

export async function tinyCloud(script: string, asked: CpiRequestParts): Promise<TinyCloud> {
  const home = await tempDir();
  const dir = join(home, "cloud");
  const registry = await liveRegistry();
  const image = join(home, "image");
  await writeFile(image, "an image");
  const args = ["--configFile", await writeConfig(home, { tiny: { dir }, registry: registry.section })];
  const text = (method: string, values: readonly unknown[], more: CpiRequestParts = {}) =>
    JSON.stringify(ask(method, values, { ...asked, ...more }));
  const call: TinyCloud["call"] = async (method, values, more) =>
    replyOf(await runCpi(script, text(method, values, more), { args }));
  return {
    dir,
    registry,
    image,
    call,
    result: async (method, ...values) => resultOf(await call(method, values)),
    errorType: async (method, ...values) =>
      errorOf(await call(method, values)).type.replace("Bosh::Clouds::", ""),
    start: (method, values, more) => startCpi(script, text(method, values, more), { args }),
    list: async (kind) => (existsSync(join(dir, kind)) ? (await readdir(join(dir, kind))).sort() : []),
    sizeOf: async (cid) => (await stat(join(dir, "disks", cid))).size,
    settingsOf: async (cid) => JSON.parse(await readFile(join(dir, "vms", cid, "user-data.json"), "utf8")),
  };
}

/** A VM; the stemcell it needs is made first. */
export async function newVm(cloud: TinyCloud, diskCids: unknown = []): Promise<string> {
  const stemcell = await cloud.result("create_stemcell", cloud.image, {});
  const made = await cloud.result("create_vm", ...vmArgs().with(1, stemcell).with(4, diskCids));
  return typeof made === "string" ? made : (made as [string])[0];
}

export const newDisk = async (cloud: TinyCloud, size = 64): Promise<string> =>
  (await cloud.result("create_disk", size, {}, null)) as string;
