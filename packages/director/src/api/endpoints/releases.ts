import { DirectorError } from "@slipway/engine/model/director-error";
import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { param } from "../call.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Releases are still to come: lists are empty, and what would change something is refused. */

const LATER =
  "this Director does not take releases yet; deploy a manifest without releases and without jobs in its instance groups";

export const getReleases = endpoint({ reply: v.array(jsonObject()) }, async () => json([]));
/** No package is known, so the CLI leaves none out of its upload. */
export const postPackagesMatches = endpoint({ reply: v.array(jsonObject()) }, async () => json([]));

export const noSuchRelease = endpoint({}, async (call) => {
  throw new DirectorError(30005, `there is no release called '${param(call, "name")}'`, { status: 404 });
});

export const postReleases = endpoint({}, async () => {
  throw new DirectorError(30002, LATER);
});
export const postReleasesExport = endpoint({}, async () => {
  throw new DirectorError(30005, LATER, { status: 404 });
});
