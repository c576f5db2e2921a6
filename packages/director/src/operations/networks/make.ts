import { CpiRefused } from "@slipway/engine/clouds/cloud";
import { problemsError } from "@slipway/engine/documents/problems";
import { causeOf } from "@slipway/engine/flows/errors";
import { runOther } from "@slipway/engine/flows/run-steps";
import { settleOpenIntents } from "@slipway/engine/flows/settle";
import { unusable } from "@slipway/engine/manifest/managed-subnets";
import type { SubnetRecord } from "@slipway/engine/model/records";
import { planNetworks, type WantedNetwork } from "@slipway/engine/plan/managed-networks";
import type { PlanInput } from "@slipway/engine/plan/model";
import type { FlowContext } from "@slipway/engine/steps/context";
import { networkScope } from "@slipway/engine/steps/create_network";
import { messageTrail } from "@slipway/kernel/errors";
import { findDeployment } from "../../store/deployments.ts";
import {
  claimSubnet,
  findNetwork,
  finishNetwork,
  type KnownNetwork,
  listNetworks,
  releaseSubnet,
  removeNetwork,
  useNetwork,
} from "../../store/networks.ts";
import type { TaskContext } from "../../tasks/task.ts";
import { deleteClaimed } from "../claimed-deletion.ts";
import { NothingDeployed } from "../errors.ts";
import type { OperationContext } from "../operation.ts";
import { NetworkNotMade, NetworkUnknownYet } from "./errors.ts";

export const networkLock = (name: string): string => `lock:networks:${name}`;
/** Time that upstream waits for the lock of a network. */
export const NETWORK_LOCK_MS = 10_000;

export const networksByName = (networks: readonly KnownNetwork[]): ReadonlyMap<string, KnownNetwork> =>
  new Map(networks.map((network) => [network.name, network]));

type Documents = Pick<PlanInput, "manifest" | "cloudConfig">;

/**
 * Sees that the managed networks of a deployment are there, and are its own to use. `again` reads the documents once more,
 * with what the CPIs chose. Gives the names of the networks.
 */
export async function makeNetworks(
  documents: Documents,
  dryRun: boolean,
  again: () => Promise<Documents>,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<Documents & { readonly managedNetworks: readonly string[] }> {
  if (!documents.cloudConfig.networks.some((one) => one.type === "manual" && one.managed === true))
    return { ...documents, managedNetworks: [] };
  const wanted = await wantedOf(documents, tools);
  const managedNetworks = wanted.map(({ name }) => name);
  if (dryRun) {
    const unknown = wanted.find(({ missing }) => missing.some(({ range }) => range === undefined));
    if (unknown !== undefined) throw NetworkUnknownYet({ network: unknown.name });
    return { ...documents, managedNetworks };
  }
  const deployment = await findDeployment(tools.db, context.deployment);
  if (deployment === undefined) throw NothingDeployed({ deployment: context.deployment });
  const known = networksByName(await listNetworks(tools.db));
  let changed = false;
  for (const { name } of wanted) {
    const network = known.get(name);
    if (network?.ready === true && network.deployments.includes(deployment.name)) continue;
    changed = true;
    await task.withLock(networkLock(name), NETWORK_LOCK_MS, async () => {
      await task.write((db) => useNetwork(db, deployment.id, name));
      await settleOpenIntents(context, { scope: networkScope(name) });
      await makeOne(name, documents, deployment.id, task, tools, context);
    });
  }
  return { ...(changed ? await again() : documents), managedNetworks };
}

async function wantedOf(
  documents: Documents,
  { db, clouds }: OperationContext,
): Promise<readonly WantedNetwork[]> {
  const cpis = clouds.configured ? clouds : undefined;
  const planned = planNetworks({ ...documents, cpis }, networksByName(await listNetworks(db)));
  if (!planned.ok) throw problemsError("this cannot be deployed", planned.problems);
  return planned.networks;
}

/** Makes a network under its lock. Another deployment may have made it meanwhile. */
async function makeOne(
  name: string,
  documents: Documents,
  deploymentId: number,
  task: TaskContext,
  tools: OperationContext,
  context: FlowContext,
): Promise<void> {
  const found = await findNetwork(tools.db, name);
  if (found?.ready === true) return;
  const scope = networkScope(name);
  await task.stage("Creating managed networks").step(name, async () => {
    try {
      // What was begun to be deleted may be gone: it is deleted to the end, and made again.
      for (const subnet of found?.deleting ?? []) await deleteSubnet(subnet, task, context);
      const wanted = (await wantedOf(documents, tools)).find((one) => one.name === name);
      for (const subnet of wanted?.unwanted ?? []) await deleteSubnet(subnet, task, context);
      for (const order of wanted?.missing ?? []) await runOther("create_network", order, context, scope);
      await refuseUnusable(name, tools);
    } catch (error) {
      task.signal.throwIfAborted();
      const cause = causeOf(error);
      // What became of a call that was lost is found out by the next deploy; what was made stays until then.
      if (!(cause instanceof CpiRefused) && !NetworkNotMade.is(error)) throw error;
      await takeBack(name, deploymentId, task, tools, context);
      throw NetworkNotMade.is(error) ? error : NetworkNotMade({ network: name, why: messageTrail(cause) });
    }
    await task.write((db) => finishNetwork(db, name));
  });
}

async function refuseUnusable(name: string, { db }: OperationContext): Promise<void> {
  for (const subnet of (await findNetwork(db, name))?.subnets ?? []) {
    const why = unusable(subnet);
    if (why !== undefined)
      throw NetworkNotMade({
        network: name,
        why: `the CPI made subnet '${subnet.name}' (${subnet.cid}), but ${why}`,
      });
  }
}

/** Deletes what was made of a network that cannot be made whole, as upstream. What cannot be deleted now stays recorded. */
async function takeBack(
  name: string,
  deploymentId: number,
  task: TaskContext,
  { db }: OperationContext,
  context: FlowContext,
): Promise<void> {
  try {
    await deleteSubnets(await findNetwork(db, name), task, context);
    await task.write((tx) => removeNetwork(tx, name, deploymentId));
  } catch (error) {
    task.signal.throwIfAborted();
    task.warn(
      `network '${name}' could not be taken back: ${messageTrail(error)}. The next deploy tries again`,
    );
  }
}

/** Deletes subnets, under the lock of the network. */
export async function deleteSubnets(
  network: Pick<KnownNetwork, "subnets"> | undefined,
  task: TaskContext,
  context: FlowContext,
): Promise<void> {
  for (const subnet of network?.subnets ?? []) await deleteSubnet(subnet, task, context);
}

/** Deletes a subnet. It is claimed first: after an unknown outcome it is not used before it is deleted to the end. */
async function deleteSubnet(subnet: SubnetRecord, task: TaskContext, context: FlowContext): Promise<void> {
  const claim = await task.write((db) => claimSubnet(db, subnet, task.id));
  if (claim === undefined) return;
  await deleteClaimed(
    claim,
    context,
    (its) => runOther("delete_network", subnet, its, networkScope(subnet.network)),
    () => task.write((db) => releaseSubnet(db, subnet, task.id)),
  );
}
