import { createHash } from "node:crypto";
import type { JsonObject } from "@slipway/protocol/schema/json";
import type { UnpackedJob } from "../releases/archive.ts";
import { type Dialect, isFailure, type Renderer, type RenderFailure } from "./request.ts";

export interface RenderedFile {
  /** Path of the file in the job. */
  readonly path: string;
  readonly content: Uint8Array;
}

/** One job of an instance, with every template in its place. */
export interface RenderedJob {
  readonly name: string;
  readonly monit: Uint8Array;
  /** In the order of the templates' sources, as digests are made of them. */
  readonly files: readonly RenderedFile[];
}

export type JobRendering =
  | { readonly ok: true; readonly job: RenderedJob }
  | { readonly ok: false; readonly failures: readonly RenderFailure[] };

export interface JobToRender {
  readonly job: UnpackedJob;
  readonly context: JsonObject;
}

/** Renders monit and all templates; reports all failures together. */
export async function renderJob(
  renderer: Renderer,
  dialect: Dialect,
  { job, context }: JobToRender,
  signal: AbortSignal,
): Promise<JobRendering> {
  const sources = job.job.templates.map(({ source }) => ({
    name: source,
    source: job.templates.get(source) ?? new Uint8Array(),
  }));
  const templates = [{ name: "monit", source: job.monit }, ...sources];
  const found = await renderer.render({ dialect, context, templates }, signal);
  const failures = found.filter(isFailure);
  if (failures.length > 0) return { ok: false, failures };
  const [monit = new Uint8Array(), ...texts] = found.map((one) =>
    isFailure(one) ? new Uint8Array() : one.text,
  );
  const files = job.job.templates.map(({ destination: path }, at) => ({
    path,
    content: texts[at] ?? new Uint8Array(),
  }));
  return { ok: true, job: { name: job.name, monit, files } };
}

/**
 * Returns a hash that changes exactly if a rendered file does. It follows upstream's rule, so that a Director that takes over
 * restarts nothing.
 */
export function configurationHash(jobs: readonly RenderedJob[]): string {
  const hash = createHash("sha1");
  for (const { name, monit, files } of [...jobs].sort((a, b) => (a.name < b.name ? -1 : 1))) {
    hash.update(monit).update(name);
    for (const { path, content } of files) hash.update(content).update(path);
  }
  return hash.digest("hex");
}

/** Returns the hash of one job, for `template_hashes` of the apply spec. */
export function templateHash({ monit, files }: RenderedJob): string {
  const hash = createHash("sha1").update(monit);
  for (const { content } of files) hash.update(content);
  return hash.digest("hex");
}
