import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { registryClient } from "@slipway/registry/client";
import { startRegistry } from "@slipway/registry/server";
import { EIGHT_MIXES, type MixOf8 } from "./mixes.ts";
import { type MatrixParts, type MatrixRow, playMix } from "./observe.ts";

const CALL_DEADLINE_MS = 60_000;
/** A CPI call is a process; more at once than this only makes each of them slower on a small machine. */
const AT_ONCE = 2;

/**
 * Plays mixes, all eight by default, with a CPI as an executable and a live registry, in a directory of its own. The CPI
 * keeps its cloud as the tiny one does: in the directory `tiny.dir`, user-data in `vms/CID/user-data.json`.
 */
export async function runMatrix(
  cpiPath: string,
  mixes: readonly MixOf8[] = EIGHT_MIXES,
): Promise<readonly MatrixRow[]> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-matrix-"));
  const password = systemRandom.hex(16);
  const seen: { readonly id: string | undefined; readonly method: string }[] = [];
  const registry = await startRegistry({
    dir: join(dir, "registry"),
    port: 0,
    users: [{ username: "registry", password }],
    onRequest: (event) => seen.push(event),
  });
  try {
    const client = registryClient({ endpoint: registry.url, username: "registry", password });
    const image = join(dir, "image");
    await writeFile(image, "an image\n");
    const stageFor = async (mix: MixOf8): Promise<MatrixParts> => {
      const cloud = join(dir, `cloud-${mix.director}${mix.cpi}${mix.stemcell}`);
      await mkdir(cloud);
      const configFile = join(cloud, "cpi.json");
      const properties = {
        tiny: { dir: cloud },
        registry: { endpoint: registry.url, user: "registry", password },
        debug: { cpi: { api_version: mix.cpi } },
      };
      await writeFile(configFile, JSON.stringify({ cloud: { plugin: "tiny", properties } }), { mode: 0o600 });
      return {
        cpi: { path: cpiPath, configFile, clock: systemClock, deadlineMs: CALL_DEADLINE_MS },
        userData: (cid) => readFile(join(cloud, "vms", cid, "user-data.json"), "utf8"),
        registryLog: (cid) => seen.filter((event) => event.id === cid).map((event) => event.method),
        registryEntry: (cid) => client.get(cid),
        stemcellImage: image,
        uuid: () => systemRandom.uuid(),
      };
    };
    return await inTurns(mixes, AT_ONCE, async (mix) => playMix(mix, await stageFor(mix)));
  } finally {
    await registry.close();
    await rm(dir, { recursive: true, force: true });
  }
}

/** All of them, some at a time; the results in the order of the items. */
export async function inTurns<T, R>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<R>,
): Promise<R[]> {
  const results: R[] = new Array(items.length);
  let next = 0;
  const worker = async () => {
    for (let at = next++; at < items.length; at = next++) results[at] = await work(items[at] as T);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
  return results;
}
