import { storedManifest } from "@slipway/protocol/director/deployment";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/** The manifest of the last deploy that succeeded, as it was posted. */
export const getDeploymentsName = endpoint({ reply: storedManifest }, async (call, { db }) => {
  const { manifestText } = await deploymentOf(db, param(call, "deployment"));
  return json({ manifest: manifestText });
});
