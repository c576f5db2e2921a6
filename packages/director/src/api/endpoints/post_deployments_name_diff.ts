import { messageTrail } from "@slipway/kernel/errors";
import { deploymentDiff, diffQuery } from "@slipway/protocol/director/diff";
import { teamsOfDeployment } from "../../store/deployments.ts";
import { listNetworks } from "../../store/networks.ts";
import { param, queryString } from "../call.ts";
import { currentConfigs } from "../deploy-configs.ts";
import { deployedDocument, wantedWith } from "../deploy-documents.ts";
import { difference, keysOf } from "../documents.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

/**
 * Returns what a deploy of this manifest would change, of any deployment, known or not. An invalid manifest is refused; if only
 * the comparison fails, the deploy goes on without one.
 */
export const postDeploymentsNameDiff = endpoint(
  { query: diffQuery, reply: deploymentDiff },
  async (call, { db, documents, onError, managesNetworks, ignoreMissingGateway }) => {
    const main = { text: await call.text(), what: "the manifest" };
    await keysOf(documents, { ...main, number: 440001 });
    const redact = queryString(call.query, "redact") !== "false";
    const name = param(call, "deployment");
    const teams = (await teamsOfDeployment(db, name)) ?? call.access.adminOf;
    const context = await currentConfigs(db, teams);
    try {
      const before = await deployedDocument(db, name);
      const { cloudConfigs, runtimeConfigs, stemcells, releases } = await wantedWith(db, context);
      const problems = await documents.ask("problems", {
        manifest: main,
        cloudConfigs,
        runtimeConfigs,
        stemcells,
        teams,
        ignoreMissingGateway,
        ...(managesNetworks === true && { managedNetworks: await listNetworks(db) }),
      });
      const after = { main, configs: [...cloudConfigs, ...runtimeConfigs], stemcells, releases };
      const more = { context, problems: [...problems] };
      return await difference(documents, { before, after, redact, number: 440001 }, more);
    } catch (error) {
      onError(error);
      return json({ context, diff: [], error: `the difference cannot be shown: ${messageTrail(error)}` });
    }
  },
);
