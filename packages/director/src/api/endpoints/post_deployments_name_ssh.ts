import { sshRequest } from "@slipway/protocol/director/ssh";
import { sshParams } from "@slipway/protocol/director/task-params";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { ParameterMissing } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** `bosh ssh` and `bosh scp`: users in VMs, before and after. */
export const postDeploymentsNameSsh = endpoint({ body: sshRequest }, async (call, services) => {
  const { command, target, params } = await call.json();
  const { name: deployment } = await deploymentOf(services.db, param(call, "deployment"));
  const { user, public_key: publicKey, user_regex: userRegex } = params;
  const ids = target.ids ?? [];
  const where = {
    deployment,
    ...(target.job ? { group: target.job } : {}),
    instances: (ids.length > 0 ? ids : (target.indexes ?? [])).map(String),
  };
  const order = { type: "ssh", description: `ssh: ${command}:${target.job ?? ""}`, deployment } as const;
  if (command === "cleanup") {
    if (!userRegex) throw ParameterMissing({ where: "body", name: "params.user_regex" });
    return startTask(call, services, sshParams, {
      ...order,
      params: { ...where, command, user_regex: userRegex },
    });
  }
  if (!user) throw ParameterMissing({ where: "body", name: "params.user" });
  if (!publicKey) throw ParameterMissing({ where: "body", name: "params.public_key" });
  return startTask(call, services, sshParams, {
    ...order,
    params: { ...where, command, user, public_key: publicKey },
  });
});
