import { transportOf } from "@slipway/engine/agents/address";
import { isRenewable } from "@slipway/engine/agents/agents";
import { runSteps } from "@slipway/engine/flows/run-steps";
import { display } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { messageTrail } from "@slipway/kernel/errors";
import { renewCertificatesParams } from "@slipway/protocol/director/task-params";
import { NatsNotOurs } from "../nats/errors.ts";
import type { Rotates } from "../nats/rotation.ts";
import { loadInstances } from "../store/instances.ts";
import { type Behind, beginTakeover, behind, endTakeover } from "../store/nats-authorities.ts";
import { LockTaken } from "../tasks/errors.ts";
import type { TaskContext } from "../tasks/task.ts";
import { diskByHand } from "./by-hand.ts";
import {
  DEPLOYMENT_LOCK_MS,
  deploymentLock,
  flowContext,
  type OperationContext,
  operation,
} from "./operation.ts";

const MOST_NAMED = 10;

interface Count {
  readonly renewed: number;
  readonly left: number;
}

/**
 * Agents whose certificate ends soon get a new one, and so do those on NATS that are to believe others than they do. One
 * that does not answer is tried again next time.
 */
export const renewCertificates = operation(renewCertificatesParams, async (params, task, tools) => {
  const { nats } = tools;
  if (params.rotate_nats_ca !== undefined) await begin(params.rotate_nats_ca, task, nats?.own);
  const first = await renewAll(task, tools);
  const { own } = nats ?? {};
  if (own === undefined || own.now().next === undefined)
    return `${told(first)}${await unconfirmed(tools, first)}`;
  const { mark, next = "" } = own.now();
  if (!(await task.write((db) => endTakeover(db, { next, mark }))))
    return `${told(first)}; ${waitsFor(await behind(tools.db, mark), task)}`;
  await own.takeUp();
  // They still trust the old one, although it no longer signs for any agent.
  const second = await renewAll(task, tools);
  const all = { renewed: first.renewed + second.renewed, left: second.left };
  return `${told(all)}; another authority has taken over on NATS`;
});

const told = ({ renewed, left }: Count): string => `${renewed} certificates renewed, ${left} left`;

/**
 * Returns how many agents have not confirmed. An operator who rotates the authority of a given server waits until none is left.
 */
async function unconfirmed({ nats, db }: OperationContext, { renewed, left }: Count): Promise<string> {
  if (nats === undefined || renewed + left === 0) return "";
  const { agents } = await behind(db, nats.now().mark);
  return agents.length === 0 ? "" : `; ${agents.length} on NATS have not confirmed whom to believe`;
}

/** Begins a rotation in this order, each step once however often it runs: makes an unused key, records its use, uses it. */
async function begin(when: "now" | "when_due", task: TaskContext, own: Rotates | undefined): Promise<void> {
  if (own === undefined)
    throw NatsNotOurs({ why: "it is not the authority of a server that the Director starts" });
  if (when === "when_due" && !own.endsSoon()) return;
  const id = String(task.id);
  await own.prepare(id);
  await task.write((db) => beginTakeover(db, id));
  await own.takeUp();
}

function waitsFor({ agents, making }: Behind, task: TaskContext): string {
  const named = agents
    .slice(0, MOST_NAMED)
    .map(
      ({ deployment, instance, ignored }) =>
        `${instance} of ${deployment}${ignored ? ", which is ignored" : ""}`,
    );
  const more = agents.length - named.length;
  const all = [
    ...named,
    ...(more > 0 ? [`${more} more`] : []),
    ...(making > 0 ? [`${making} being made`] : []),
  ];
  task.warn(
    `The old authority of NATS stays until every agent has confirmed the new one. These have not: ${all.join("; ")}. They are asked again every few minutes, and with \`slipway rotate-nats-ca\`.`,
  );
  return `the old authority of NATS stays for ${agents.length + making} more`;
}

async function renewAll(task: TaskContext, tools: OperationContext): Promise<Count> {
  const deployments = await tools.db.selectFrom("deployments").select("name").orderBy("name").execute();
  const stage = task.stage("Renewing certificates");
  const mark = tools.nats?.now().mark;
  let renewed = 0;
  let left = 0;
  for (const { name } of deployments) {
    const due = async () => (await loadInstances(tools.db, name)).filter((one) => isDue(one, tools, mark));
    const before = (await due()).length;
    if (before === 0) continue;
    const context = flowContext(tools, task, name);
    const work = async () => {
      for (const instance of await due()) {
        try {
          const run = { ...diskByHand(instance, "its certificate is to be another"), watchMs: null };
          await stage.step(display(instance), () => runSteps(["renew_certificate"], run, context));
          renewed += 1;
        } catch (error) {
          task.signal.throwIfAborted();
          task.debug(`${display(instance)}: ${messageTrail(error)}`);
          left += 1;
        }
      }
    };
    try {
      await task.withLock(deploymentLock(name), DEPLOYMENT_LOCK_MS, work);
    } catch (error) {
      if (!LockTaken.is(error)) throw error;
      task.debug(messageTrail(error));
      left += before;
    }
  }
  return { renewed, left };
}

/** `mark`: what agents on NATS are to believe; undefined when there is no NATS. */
function isDue(instance: InstanceRecord, { agents, clock }: OperationContext, mark?: string): boolean {
  const vm = activeVm(instance);
  if (vm === undefined || instance.ignore) return false;
  const transport = transportOf(vm.agentUrl);
  const believesOthers = mark !== undefined && transport === "nats" && vm.natsTrust !== mark;
  if (believesOthers || vm.certificateUntil === null) return believesOthers;
  return isRenewable(vm.certificateUntil, clock.now(), agents.signerEnds(transport));
}
