import { diffManifests } from "@slipway/engine/manifest/diff";
import { messageTrail } from "@slipway/kernel/errors";
import { deploymentDiff, diffQuery } from "@slipway/protocol/director/diff";
import { given, param } from "../call.ts";
import { currentConfigs } from "../deploy-configs.ts";
import { deployedDocument, wantedDocument } from "../deploy-documents.ts";
import { yamlMap } from "../documents.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/**
 * What a deploy of this manifest would change, of any deployment, known or not. A manifest that is none is refused; if
 * only the comparison fails, the deploy goes on without one.
 */
export const postDeploymentsNameDiff = endpoint(
  { query: diffQuery, reply: deploymentDiff },
  async (call, { db, onError }) => {
    const manifest = yamlMap(await call.text(), "the manifest", 440001);
    const redact = given(call.query, "redact") !== "false";
    const context = await currentConfigs(db);
    try {
      const before = await deployedDocument(db, param(call, "deployment"));
      const after = await wantedDocument(db, manifest, context);
      return json({ context, diff: diffManifests(before, after, { redact }) });
    } catch (error) {
      onError(error);
      return json({ context, diff: [], error: `the difference cannot be shown: ${messageTrail(error)}` });
    }
  },
);
