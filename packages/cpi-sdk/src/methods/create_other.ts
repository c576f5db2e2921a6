import { camel, resultIn } from "@slipway/protocol/cpi/method";
import { networkCid } from "@slipway/protocol/ids";
import type { CreatedNetwork } from "../cpi.ts";
import { accept, type ResourceKind, runCreation } from "../create.ts";
import { cpiError } from "../errors.ts";
import { handlerOf, type RunningCall } from "../running-call.ts";

const KINDS: Readonly<Record<string, ResourceKind>> = {
  create_stemcell: { remove: ["delete_stemcell", "stemcellCid"] },
  create_disk: { remove: ["delete_disk", "diskCid"], exists: ["has_disk", "diskCid"] },
  snapshot_disk: { remove: ["delete_snapshot", "snapshotCid"] },
  create_network: { remove: ["delete_network", "networkCid"] },
};

/** create_stemcell, create_disk, snapshot_disk: the author's cid, once per request. */
export async function createCid(running: RunningCall): Promise<unknown> {
  const made = await runCreation(running, {
    kind: kindOf(running),
    create: async (call) => {
      const cid = await handle(running, call);
      accept(resultIn(running.method, running.version).schema, cid, `${running.method.name} result`);
      return { cid: cid as string };
    },
  });
  return made.cid;
}

/** create_network: one object from the author, three elements on the wire. */
export async function createNetwork(running: RunningCall): Promise<unknown> {
  const made = await runCreation<CreatedNetwork>(running, {
    kind: kindOf(running),
    create: async (call) => {
      const network = (await handle(running, call)) as CreatedNetwork | undefined;
      accept(networkCid, network?.cid, "create_network result: cid");
      return network as CreatedNetwork;
    },
    finish: async (network) => {
      accept(resultIn(running.method, running.version).schema, wire(network), "create_network result");
    },
  });
  return wire(made);
}

function wire(made: CreatedNetwork): unknown {
  const addresses = {
    ...(made.range !== undefined && { range: made.range }),
    ...(made.gateway !== undefined && { gateway: made.gateway }),
    ...(made.reserved !== undefined && { reserved: made.reserved }),
  };
  return [made.cid, addresses, made.cloudProperties ?? {}];
}

const handle = async (running: RunningCall, call: unknown) =>
  await handlerOf(running.cpi, camel(running.method.name))?.(running.args, call);

function kindOf(running: RunningCall): ResourceKind {
  const kind = KINDS[running.method.name];
  if (kind === undefined) throw cpiError(`bug: ${running.method.name} is not a create method`);
  return kind;
}
