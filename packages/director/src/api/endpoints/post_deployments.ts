import { canonicalProblem } from "@slipway/engine/manifest/canonical";
import { deployQuery } from "@slipway/protocol/director/deployment";
import { deployParams } from "@slipway/protocol/director/task-params";
import { ensureDeployment, teamsOfDeployment } from "../../store/deployments.ts";
import { checked, queryString } from "../call.ts";
import { contextConfigs } from "../deploy-configs.ts";
import { deployDescription, deployOptionsOf } from "../deploy-options.ts";
import { keysOf } from "../documents.ts";
import { requireAccess } from "../permissions.ts";
import { BadDeploymentName, ParameterMissing } from "../refusals.ts";
import { endpoint } from "../route.ts";
import { startTask } from "../start-task.ts";

/** The deployment is listed from here on, also while its first deploy runs. It is the teams' of who deploys it first. */
export const postDeployments = endpoint({ query: deployQuery }, async (call, services) => {
  const manifest = await call.text();
  const name = deploymentName(
    (await keysOf(services.documents, { text: manifest, what: "the manifest", number: 440001 }, "name")).name,
  );
  const known = await teamsOfDeployment(services.db, name);
  if (known !== undefined) requireAccess(call.access, "admin", known);
  const teams = known ?? call.access.adminOf;
  const configs = await contextConfigs(services.db, queryString(call.query, "context"), teams);
  const params = checked(
    deployParams,
    { manifest, ...configs, options: deployOptionsOf(call.query) },
    "deploy",
  );
  const deployment = await ensureDeployment(services.db, name, teams);
  // Another request may have made the deployment meanwhile.
  requireAccess(call.access, "admin", deployment.teams);
  return startTask(call, services, deployParams, {
    type: "update_deployment",
    description: deployDescription(call.query),
    deployment: name,
    params,
  });
});

function deploymentName(value: unknown): string {
  const name = typeof value === "number" ? String(value) : value;
  if (typeof name !== "string" || name === "") {
    throw ParameterMissing({ where: "manifest", name: "name" });
  }
  if (!/^[-0-9A-Za-z_+.]{1,255}$/.test(name)) {
    throw BadDeploymentName({ why: "it has other characters" });
  }
  const problem = canonicalProblem(name);
  if (problem !== undefined) throw BadDeploymentName({ why: problem });
  return name;
}
