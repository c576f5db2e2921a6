import { jsonObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { param } from "../call.ts";
import { NoSuchRelease, ReleasesNotYet } from "../refusals.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** Releases are still to come: lists are empty, and what would change something is refused. */

export const getReleases = endpoint({ reply: v.array(jsonObject()) }, async () => json([]));
/** No package is known, so the CLI leaves none out of its upload. */
export const postPackagesMatches = endpoint({ reply: v.array(jsonObject()) }, async () => json([]));

export const noSuchRelease = endpoint({}, async (call) => {
  throw NoSuchRelease({ name: param(call, "name") });
});

export const postReleases = endpoint({}, async () => {
  throw ReleasesNotYet({ number: 30002, status: 400 });
});
export const postReleasesExport = endpoint({}, async () => {
  throw ReleasesNotYet({ number: 30005, status: 404 });
});
