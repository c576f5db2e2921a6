import type { UnpackedJob } from "@slipway/engine/releases/archive";
import { bindProperties } from "@slipway/engine/templates/bind-properties";
import { RenderingFailed } from "@slipway/engine/templates/errors";
import { type RenderedJob, renderJob } from "@slipway/engine/templates/render-job";
import type { Renderer, RenderFailure } from "@slipway/engine/templates/request";
import type { Random } from "@slipway/kernel/random";
import type { JsonObject } from "@slipway/protocol/schema/json";

export interface ToRender {
  readonly job: UnpackedJob;
  readonly properties: JsonObject;
}

export interface RenderContext {
  readonly deployment: string;
  readonly address: string | undefined;
  readonly networks: JsonObject;
}

/** Renders all jobs as upstream's create-env does. Reports all mistakes at once. */
export async function renderJobs(
  jobs: readonly ToRender[],
  about: RenderContext,
  { renderer, random, signal }: { renderer: Renderer; random: Random; signal: AbortSignal },
): Promise<readonly RenderedJob[]> {
  const rendered: RenderedJob[] = [];
  const wrong: string[] = [];
  for (const { job, properties } of jobs) {
    const context = {
      index: 0,
      id: random.uuid(),
      az: "unknown",
      bootstrap: true,
      job: { name: job.name },
      deployment: about.deployment,
      ...(about.address !== undefined && { address: about.address }),
      networks: about.networks,
      properties: bindProperties(job.job.properties, properties),
    };
    const result = await renderJob(renderer, "create-env", { job, context }, signal);
    if (result.ok) rendered.push(result.job);
    else wrong.push(...result.failures.map((failure) => wordsOf(job.name, failure)));
  }
  if (wrong.length > 0) throw RenderingFailed({ report: wrong.join("\n") });
  return rendered;
}

const wordsOf = (job: string, { name, line, message }: RenderFailure): string =>
  `Error filling in template '${name}' for ${job}/0 (line ${line ?? "(unknown)"}: ${message})`;
