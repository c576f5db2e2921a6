import { needsRenewal } from "@slipway/engine/agents/agents";
import { aboutInstance, type FlowContext } from "@slipway/engine/flows/step";
import { display } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord, type VmRecord } from "@slipway/engine/model/records";
import { messageTrail } from "@slipway/kernel/errors";
import * as v from "valibot";
import { loadInstances } from "../store/instances.ts";
import { DEPLOYMENT_LOCK_MS, deploymentLock, flowContext, operation } from "./operation.ts";

/** Agents whose certificate ends soon get a new one. One that does not answer is tried again next time. */
export const renewCertificates = operation(v.object({}), async (_, task, shop) => {
  const deployments = await shop.db.selectFrom("deployments").select("name").orderBy("name").execute();
  const stage = task.stage("Renewing certificates");
  let renewed = 0;
  let left = 0;
  for (const { name } of deployments) {
    const due = (await loadInstances(shop.db, name)).filter((one) => isDue(one, shop.clock.now()));
    if (due.length === 0) continue;
    const context = flowContext(shop, task, name);
    await task.withLock(deploymentLock(name), DEPLOYMENT_LOCK_MS, async () => {
      for (const instance of due) {
        const vm = activeVm(instance);
        if (vm === undefined) continue;
        try {
          await stage.step(display(instance), () => renew(vm, aboutInstance(context, instance)));
          renewed += 1;
        } catch (error) {
          task.signal.throwIfAborted();
          task.debug(`${display(instance)}: ${messageTrail(error)}`);
          left += 1;
        }
      }
    });
  }
  return `${renewed} certificates renewed, ${left} left`;
});

export function isDue(instance: InstanceRecord, now: number): boolean {
  const until = activeVm(instance)?.certificateUntil ?? null;
  return until !== null && !instance.ignore && needsRenewal(until, now);
}

/** The agent restarts with it; trusted certificates and disk associations are cleared by what does not name them. */
async function renew(vm: VmRecord, context: FlowContext): Promise<void> {
  const ips = Object.values(vm.networks).flatMap(({ ip, type }) =>
    ip === undefined || type === "vip" ? [] : [ip],
  );
  const { settings, certificateUntil } = await context.agents.renewal({ agentId: vm.agentId, ips });
  const agent = context.agents.agent(vm);
  const ask = { signal: context.signal };
  await agent.updateSettings({ trusted_certs: "", disk_associations: [], ...settings }, ask);
  await agent.waitUntilReady({ ...ask, withinMs: context.settings.agentWaitMs });
  await context.journal.write((writes) => writes.updateVm(vm.cid, { certificateUntil }));
}
