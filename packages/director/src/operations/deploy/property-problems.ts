import type { UnpackedJob } from "@slipway/engine/releases/archive";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { TooCostly } from "../../documents/errors.ts";
import type { OperationContext } from "../operation.ts";

/** Holds the properties of jobs against their `properties_schema.json`, the same ones once however many instances have them. */
export function propertyChecker({
  documents,
}: Pick<OperationContext, "documents">): (
  job: UnpackedJob,
  properties: JsonObject,
) => Promise<readonly string[]> {
  const known = new Map<string, Promise<readonly string[]>>();
  return (job, properties) => {
    const { propertiesSchema: schema } = job;
    if (schema === undefined) return Promise.resolve([]);
    const key = `${job.name}/${job.fingerprint} ${JSON.stringify(properties)}`;
    const asked =
      known.get(key) ??
      documents.ask("propertyProblems", { schema, properties }).catch((error: unknown) => {
        if (!TooCostly.is(error)) throw error;
        return ["its properties_schema.json takes too long: see the patterns in it"];
      });
    known.set(key, asked);
    return asked;
  };
}
