import { check } from "@slipway/protocol/schema/check";
import type { GenericSchema, InferOutput } from "valibot";
import { type ObjectStore, type ObjectStoreTools, ObjectTrouble, objectStore } from "./object-store.ts";

/** Providers of object stores, by the names that BOSH has for them. */
export const OBJECT_STORES = ["s3", "gcs", "dav", "azure-storage"] as const;
export type ObjectStoreProvider = (typeof OBJECT_STORES)[number];

export const isObjectStore = (provider: string): provider is ObjectStoreProvider =>
  (OBJECT_STORES as readonly string[]).includes(provider);

/** Makes the client of a provider, with the options of upstream's programs. Throws `ObjectTrouble` if they are wrong. */
export async function openObjectStore(
  provider: ObjectStoreProvider,
  options: unknown,
  tools: ObjectStoreTools,
): Promise<ObjectStore> {
  const make = async () => {
    switch (provider) {
      case "s3": {
        const { s3Access, s3Options } = await import("./s3.ts");
        return s3Access(checked(s3Options, options), tools);
      }
      case "gcs": {
        const { gcsAccess, gcsOptions } = await import("./gcs.ts");
        return gcsAccess(checked(gcsOptions, options), tools);
      }
      case "dav": {
        const { davAccess, davOptions } = await import("./dav.ts");
        return davAccess(checked(davOptions, options));
      }
      case "azure-storage": {
        const { azureAccess, azureOptions } = await import("./azure.ts");
        return azureAccess(checked(azureOptions, options), tools);
      }
    }
  };
  return objectStore(await make(), tools);
}

function checked<S extends GenericSchema>(schema: S, options: unknown): InferOutput<S> {
  const result = check(schema, options ?? {}, "options");
  if (result.ok) return result.value;
  throw new ObjectTrouble("refused", result.problems.join("; "));
}
