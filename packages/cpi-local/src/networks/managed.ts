import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { cloudError, networkNotFound, notSupported } from "@slipway/cpi-sdk/errors";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { exists } from "@slipway/kernel/files";
import * as v from "valibot";
import { namesIn } from "../files.ts";
import { directoryOf, type LocalCloud, locked, placeOf } from "../local-cloud.ts";

const managedNetwork = v.object({ range: v.string(), gateway: v.string() });
export type ManagedNetworkRecord = v.InferOutput<typeof managedNetwork>;

export interface NetworkOrder {
  readonly range?: string | undefined;
  readonly gateway?: string | undefined;
  /** How large a range of its own choice is to be. */
  readonly bits?: number | undefined;
}

const SMALLEST_OCTET = 200;
const LARGEST_OCTET = 249;

/** Nothing has to be made for a network; it is written down so that the next one without a range gets another. */
export async function createNetwork(
  cloud: LocalCloud,
  cid: string,
  order: NetworkOrder,
): Promise<ManagedNetworkRecord> {
  return await locked(cloud, "networks", async () => {
    const file = placeOf(cloud, "networks", cid);
    if (await exists(file)) return await read(file);
    const network =
      order.range === undefined ? await freeRange(cloud, order.bits) : given(order.range, order.gateway);
    await mkdir(directoryOf(cloud, "networks"), { recursive: true, mode: 0o700 });
    await writeFileAtomic(file, JSON.stringify(network));
    return network;
  });
}

export async function removeNetwork(cloud: LocalCloud, cid: string): Promise<void> {
  const file = placeOf(cloud, "networks", cid);
  if (!(await exists(file))) throw networkNotFound(cid);
  await rm(file);
}

const RANGE = /^(\d{1,3}\.\d{1,3}\.\d{1,3})\.\d{1,3}\/\d{1,2}$/;

function given(range: string, gateway: string | undefined): ManagedNetworkRecord {
  const start = RANGE.exec(range)?.[1];
  if (start === undefined) throw notSupported(`the range ${JSON.stringify(range)} is no IPv4 range`);
  return { range, gateway: gateway ?? `${start}.1` };
}

/** Each has an octet of its own: nothing larger fits. */
const LARGEST = 16;
const SMALLEST = 30;

async function freeRange(cloud: LocalCloud, bits = 24): Promise<ManagedNetworkRecord> {
  if (bits < LARGEST || bits > SMALLEST)
    throw notSupported(`netmask_bits ${bits}: a network without a range has ${LARGEST} to ${SMALLEST}`);
  const taken = new Set<string>();
  const directory = directoryOf(cloud, "networks");
  for (const name of await namesIn(directory))
    taken.add((await read(join(directory, name))).range.replace(/\/.*/, ""));
  for (let octet = SMALLEST_OCTET; octet <= LARGEST_OCTET; octet++) {
    const first = `127.${octet}.0.0`;
    if (!taken.has(first)) return { range: `${first}/${bits}`, gateway: `127.${octet}.0.1` };
  }
  throw cloudError("all ranges for networks without one are taken; give the network a range");
}

const read = async (file: string): Promise<ManagedNetworkRecord> =>
  v.parse(managedNetwork, JSON.parse(await readFile(file, "utf8")));
