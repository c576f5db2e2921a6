import { X509Certificate } from "node:crypto";
import { variableExpiry } from "@slipway/protocol/director/variable";
import { isObject } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { deployedVariableSet } from "../../store/variable-sets.ts";
import { param } from "../call.ts";
import { deploymentOf } from "../lookup.ts";
import { json } from "../reply.ts";
import { endpoint } from "../route.ts";

const DAY_MS = 86_400_000;

/** Certificates among the variables of the last successful deploy, in the versions it uses. */
export const getDeploymentsNameCertificateExpiry = endpoint(
  { reply: v.array(variableExpiry) },
  async (call, { db, configServer, clock }) => {
    const { name } = await deploymentOf(db, param(call, "deployment"));
    const used = await deployedVariableSet(db, name);
    const certificates: v.InferOutput<typeof variableExpiry>[] = [];
    for (const [variable, id] of used?.entries ?? []) {
      const until = expiryOf((await configServer.byId(id, variable)).value);
      if (until === undefined) continue;
      certificates.push({
        ...{ name: variable, id, expiry_date: new Date(until).toISOString().replace(".000Z", "Z") },
        days_left: Math.floor((until - clock.now()) / DAY_MS),
      });
    }
    return json(certificates);
  },
);

/** Undefined for a value without a certificate that can be read. */
function expiryOf(value: unknown): number | undefined {
  if (!isObject(value) || typeof value.certificate !== "string") return undefined;
  try {
    return Date.parse(new X509Certificate(value.certificate).validTo);
  } catch {
    return undefined;
  }
}
