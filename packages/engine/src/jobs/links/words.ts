import type { LinkConsumer, LinkProvider } from "./model.ts";

/** Upstream's words for links that cannot be resolved: operators search for them. */

export function linkProblem(
  consumer: LinkConsumer,
  found: readonly LinkProvider[],
  network: string | undefined,
): string {
  const { originalName, name, type, job, group } = consumer;
  const alias = originalName === name ? "" : `alias '${name}' and `;
  const what = found.length > 1 ? "Multiple link providers found:" : "Details below:";
  const whose = group === "" ? `variable '${job}'` : `job '${job}' in instance group '${group}'`;
  const head = `Failed to resolve link '${originalName}' with ${alias}type '${type}' from ${whose}. ${what}`;
  const details =
    found.length === 0 ? ["No link providers found"] : found.map((one) => providerWords(one, network));
  return [head, ...details.map((detail) => `    - ${detail}`)].join("\n");
}

function providerWords(
  { originalName, name, job, group, deployment }: LinkProvider,
  network?: string,
): string {
  const alias = originalName === name ? "" : `with alias '${name}' `;
  const outside = network === undefined ? "" : ` does not belong to network '${network}'`;
  return (
    `Link provider '${originalName}' ${alias}from job '${job}' in instance group '${group}' ` +
    `in deployment '${deployment}'${outside}`
  );
}

/** All of them at once. */
export const linksReport = (deployment: string, problems: readonly string[]): string =>
  [`${linksFailed(deployment)}. See errors below:`, ...problems.map((one) => `  - ${one}`)].join("\n");

export const linksFailed = (deployment: string): string =>
  `Failed to resolve links from deployment '${deployment}'`;
