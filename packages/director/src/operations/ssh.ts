import type { Agent } from "@slipway/engine/agents/agent";
import { slug } from "@slipway/engine/model/names";
import { activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { messageTrail } from "@slipway/kernel/errors";
import type { sshAnswer } from "@slipway/protocol/director/ssh";
import { sshParams } from "@slipway/protocol/director/task-params";
import type { ReplyOf } from "@slipway/protocol/schema/reply-of";
import type * as v from "valibot";
import { loadInstances } from "../store/instances.ts";
import { NothingMatched } from "./errors.ts";
import { inFlight } from "./in-flight.ts";
import { operation } from "./operation.ts";

const AT_ONCE = 32;

type Params = v.InferOutput<typeof sshParams>;
type Gateway = "gateway_user" | "gateway_host";
/** Answer without the keys of a gateway if none is configured, as upstream. */
type Answer = Omit<ReplyOf<typeof sshAnswer>, Gateway> & Partial<Pick<ReplyOf<typeof sshAnswer>, Gateway>>;

/** Creates users in the named VMs, for the length of an ssh session. The result is one list. */
export const ssh = operation(sshParams, async (params, task, tools) => {
  const { deployment, group, instances } = params;
  const found = (await loadInstances(tools.db, deployment)).filter((one) => fits(one, params));
  if (found.length === 0)
    throw NothingMatched({ deployment, filter: JSON.stringify({ job: group, ids: instances }) });
  const answers = new Map<string, Answer>();
  const { sshGateway } = tools.options;
  const gateway = sshGateway && { gateway_host: sshGateway.host, gateway_user: sshGateway.user };
  const user = params.command === "setup" ? params.user : params.user_regex;
  await inFlight(found, AT_ONCE, async (instance) => {
    const vm = activeVm(instance);
    if (vm === undefined) return;
    const name = slug(instance);
    const agent = (tools.about?.(name).agents ?? tools.agents).agent(vm);
    const event = {
      action: `${params.command} ssh`,
      objectType: "instance",
      objectName: name,
      deployment,
      instance: name,
      context: { user },
    };
    try {
      const answer = await ask(agent, params, task.signal);
      const { group: job, index, uuid: id } = instance;
      const { command } = params;
      answers.set(id, { command, status: "success", ...answer, job, index, id, ...gateway });
    } catch (error) {
      await task.audit({ ...event, error: messageTrail(error) });
      throw error;
    }
    await task.audit(event);
  });
  task.result(found.flatMap(({ uuid }) => answers.get(uuid) ?? []));
  return "";
});

/** Reports whether an instance is named by id or index, within the group if one is named. Only VMs can be entered. */
function fits(instance: InstanceRecord, { group, instances }: Params): boolean {
  if (activeVm(instance) === undefined || (group !== undefined && instance.group !== group)) return false;
  return (
    instances.length === 0 || instances.some((one) => [instance.uuid, `${instance.index}`].includes(one))
  );
}

async function ask(agent: Agent, params: Params, signal: AbortSignal) {
  if (params.command === "cleanup") {
    await agent.sshCleanup(params.user_regex, { signal });
    return {};
  }
  const { ip, hostPublicKey, port } = await agent.sshSetup(params.user, params.public_key, { signal });
  return { ip, host_public_key: hostPublicKey, ...(port === undefined ? {} : { port }) };
}
