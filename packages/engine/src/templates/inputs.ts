import type { Json, JsonObject } from "@slipway/protocol/schema/json";
import type { KnownJob } from "../releases/model.ts";

/** One job with all that its templates can see: the values of variables are in the context. */
export interface JobInputs {
  /** Names its archive, which has the templates and monit and never changes. */
  readonly job: Pick<KnownJob, "name" | "version" | "fingerprint" | "digest" | "blobId">;
  /** The context as the renderer gets it, so that no field of it can be forgotten. */
  readonly context: JsonObject;
  /** Links for `.bosh/links.json`, a file beside those of the templates. */
  readonly provides: Json;
}

/** Raised by one whenever the Director makes other files or hashes of the same templates. */
const FORMAT = 1;

/**
 * Returns a hash of all that decides what an instance's jobs are rendered to, but for clocks and random numbers. It is keyed,
 * because the context holds passwords. `renderer` is the identity of the renderer.
 */
export function templateInputs(
  jobs: readonly JobInputs[],
  renderer: string,
  keyedHash: (text: string) => string,
): string {
  const parts = jobs.map(({ job: { name, version, fingerprint, digest, blobId }, context, provides }) => [
    [name, version, fingerprint, digest, blobId],
    context,
    provides,
  ]);
  return keyedHash(JSON.stringify([FORMAT, renderer, parts]));
}
