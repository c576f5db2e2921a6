import type { Renderer } from "@slipway/engine/templates/request";
import type { Random } from "@slipway/kernel/random";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { EnvManifest } from "../manifest/model.ts";
import type { EnvJobsPlan } from "./jobs-to-run.ts";
import { packageOrder } from "./package-order.ts";
import { jobOf, type Releases } from "./releases.ts";
import { renderJobs } from "./render.ts";

export interface RenderTools {
  readonly renderer: Renderer;
  readonly random: Random;
  readonly signal: AbortSignal;
}

/** Renders everything before a VM is touched: a mistake in a template must not cost the operator the VM. */
export async function planJobs(
  manifest: EnvManifest,
  releases: Releases,
  tools: RenderTools,
): Promise<EnvJobsPlan> {
  const chosen = manifest.jobs.map((choice) => ({ choice, job: jobOf(releases, choice) }));
  const packages = chosen.flatMap(({ choice, job }) =>
    packageOrder(job.job.packages, releases.get(choice.release)?.packages ?? []),
  );
  const [address] = Object.values(manifest.networks).flatMap(({ ip }) => ip ?? []);
  const about = { deployment: manifest.name, address, networks: networksOf(manifest) };
  const rendered = await renderJobs(
    chosen.map(({ choice, job }) => ({ job, properties: choice.properties ?? manifest.properties })),
    about,
    tools,
  );
  return {
    group: manifest.group,
    jobs: chosen.flatMap(({ job: { fingerprint } }, at) => {
      const one = rendered[at];
      return one === undefined ? [] : [{ rendered: one, fingerprint }];
    }),
    packages: [...new Map(packages.map((one) => [one.name, one])).values()],
    installed: [...new Set(chosen.flatMap(({ job }) => job.job.packages))],
  };
}

const networksOf = ({ networks }: EnvManifest): JsonObject =>
  Object.fromEntries(
    Object.entries(networks).map(([name, { ip, netmask, gateway }]) => [
      name,
      { ip: ip ?? "", netmask: netmask ?? "", gateway: gateway ?? "" },
    ]),
  );
