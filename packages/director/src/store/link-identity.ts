import type { LinkConsumer, LinkProvider } from "@slipway/engine/jobs/links/model";
import { sameJson } from "@slipway/engine/model/equal";
import { isObject, type JsonObject } from "@slipway/protocol/schema/json";
import type { Db } from "./schema.ts";

/** Earlier names of instance groups, by their present name. */
export type FormerGroups = ReadonlyMap<string, readonly string[]>;

type ProviderKey = Pick<LinkProvider, "group" | "job" | "kind" | "originalName">;
type ConsumerKey = Pick<LinkConsumer, "group" | "job" | "originalName">;

export const providerKey = ({ group, job, kind, originalName }: ProviderKey): string =>
  JSON.stringify([group, job, kind, originalName]);

export const consumerKey = ({ group, job, originalName }: ConsumerKey): string =>
  JSON.stringify([group, job, originalName]);

/** Compares as upstream does: neither the order of networks nor that of instances makes another link. */
export const sameLinkContent = (a: JsonObject, b: JsonObject): boolean => sameJson(sorted(a), sorted(b));

const sorted = (content: JsonObject): JsonObject => ({
  ...content,
  ...(Array.isArray(content.networks) && { networks: content.networks.toSorted() }),
  ...(Array.isArray(content.instances) && {
    instances: content.instances.toSorted((a, b) => (idOf(a) < idOf(b) ? -1 : 1)),
  }),
});

const idOf = (instance: unknown): string =>
  isObject(instance) && typeof instance.id === "string" ? instance.id : "";

/** Gives providers of a renamed group its new name, so that they keep their ids. */
export async function renameProviders(
  tx: Db,
  deploymentId: number,
  made: readonly LinkProvider[],
  former: FormerGroups,
): Promise<void> {
  if (former.size === 0) return;
  const rows = await tx
    .selectFrom("link_providers")
    .select(["id", "group_name as group", "job", "kind", "original_name as originalName", "content_sealed"])
    .where("deployment_id", "=", deploymentId)
    .execute();
  const known = new Map(rows.map((row) => [providerKey(row), row]));
  for (const one of made) {
    const there = known.get(providerKey(one));
    // A provider without content was only announced by this deploy: it has no consumers.
    if (there !== undefined && there.content_sealed !== null) continue;
    const before = firstOf(former.get(one.group), (group) =>
      // The owner of a disk is its group.
      known.get(providerKey({ ...one, group, job: one.kind === "disk" ? group : one.job })),
    );
    if (before === undefined) continue;
    if (there !== undefined) await tx.deleteFrom("link_providers").where("id", "=", there.id).execute();
    const renamed = { group_name: one.group, job: one.job };
    await tx.updateTable("link_providers").set(renamed).where("id", "=", before.id).execute();
  }
}

/** The same for consumers, and so for the links they have. */
export async function renameConsumers(
  tx: Db,
  deploymentId: number,
  made: readonly LinkConsumer[],
  former: FormerGroups,
): Promise<void> {
  if (former.size === 0) return;
  const rows = await tx
    .selectFrom("link_consumers")
    .select(["id", "group_name as group", "job", "original_name as originalName"])
    .where("deployment_id", "=", deploymentId)
    .where("group_name", "is not", null)
    .execute();
  const known = new Map(rows.map((row) => [consumerKey({ ...row, group: row.group ?? "" }), row]));
  for (const one of made) {
    if (known.has(consumerKey(one))) continue;
    const before = firstOf(former.get(one.group), (group) => known.get(consumerKey({ ...one, group })));
    if (before === undefined) continue;
    const renamed = { group_name: one.group };
    await tx.updateTable("link_consumers").set(renamed).where("id", "=", before.id).execute();
  }
}

function firstOf<T>(names: readonly string[] = [], find: (name: string) => T | undefined): T | undefined {
  for (const name of names) {
    const found = find(name);
    if (found !== undefined) return found;
  }
  return undefined;
}
