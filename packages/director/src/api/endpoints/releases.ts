import { DirectorError } from "@slipway/engine/model/director-error";
import { param } from "../call.ts";
import { json } from "../reply.ts";
import type { Handler } from "../route.ts";

/** Releases are still to come: lists are empty, and what would change something is refused. */

const LATER =
  "this Director does not take releases yet; deploy a manifest without releases and without jobs in its instance groups";

export const getReleases: Handler = async () => json([]);
/** No package is known, so the CLI leaves none out of its upload. */
export const postPackagesMatches: Handler = async () => json([]);

export const noSuchRelease: Handler = async (call) => {
  throw new DirectorError(30005, `there is no release called '${param(call, "name")}'`, { status: 404 });
};

export const postReleases: Handler = async () => {
  throw new DirectorError(30002, LATER);
};
export const postReleasesExport: Handler = async () => {
  throw new DirectorError(30005, LATER, { status: 404 });
};
