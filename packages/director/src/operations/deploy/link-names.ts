import { jobsError } from "@slipway/engine/jobs/errors";
import { consumedDeployments } from "@slipway/engine/jobs/links/consumers";
import { variableLinks } from "@slipway/engine/jobs/links/of-variables";
import { dnsGroups } from "@slipway/engine/jobs/links/plan-links";
import type { CloudConfig, Manifest } from "@slipway/engine/manifest/model";
import { sharedProviders } from "../../store/links.ts";
import type { TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";
import { dnsNumbers } from "./dns-numbers.ts";
import { knownReleases } from "./known-releases.ts";
import type { DeployVariables, NameOfLink } from "./variables.ts";

/**
 * Returns the names of the links that certificates consume, before any instance is planned. Certificates outlive a dry run: so do
 * the numbers in their names.
 */
export async function linkNames(
  { manifest, cloudConfig }: { readonly manifest: Manifest; readonly cloudConfig: CloudConfig },
  { linkConsumers }: Pick<DeployVariables, "linkConsumers">,
  task: TaskContext,
  tools: OperationContext,
): Promise<NameOfLink> {
  const releases = await knownReleases(manifest, tools);
  const others = consumedDeployments(manifest);
  const named = {
    azs: cloudConfig.azs.map(({ name }) => name),
    networks: cloudConfig.networks.map(({ name }) => name),
    groups: dnsGroups({ manifest, releases }),
  };
  const deployments = [manifest.name, ...others];
  const ids = tools.dns && (await dnsNumbers({ named, deployments, uuids: [], dryRun: false }, task, tools));
  const found = variableLinks({
    director: { name: tools.settings.directorName },
    manifest,
    releases,
    sharedProviders: await sharedProviders(tools.db, others),
    variableConsumers: linkConsumers,
    ...(tools.dns && ids && { dns: { ...tools.dns, ids } }),
  });
  if (!found.ok) throw jobsError(found);
  return (variable, as) => found.nameOf(variable, as);
}
