import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { AwsCloud } from "../cloud.ts";

/** Tags of ours. Whatever a VM or disk was told is in the others. */
export const TAG = {
  /** Token of the request that made the resource. */
  token: "slipway:token",
  director: "slipway:director",
  /** VM or disk, in lists of all that a Director has. */
  kind: "slipway:kind",
  agent: "slipway:agent",
  stemcell: "slipway:stemcell",
  /** Size of a disk as it was asked for, MiB: a volume has whole GiB. */
  size: "slipway:size",
} as const;

const OURS = "slipway:";
/** Limits of EC2: 50 tags, of which ours take the first; 128 and 256 characters. */
const MOST = 50;
const LONGEST_KEY = 127;
const LONGEST_VALUE = 255;

export type Tags = Readonly<Record<string, string>>;

export const tagSet = v.optional(v.array(open({ key: v.string(), value: v.optional(v.string()) })));
type TagSet = v.InferOutput<typeof tagSet>;

export const tagsIn = (set: TagSet): Tags =>
  Object.fromEntries((set ?? []).map(({ key, value = "" }) => [key, value]));

/** Tags that a resource keeps when it gets others: ours, and what it was told before. Those of AWS count elsewhere. */
export const keptTags = (set: TagSet): Tags =>
  Object.fromEntries(Object.entries(tagsIn(set)).filter(([key]) => !key.startsWith("aws:")));

/** Returns the metadata of a VM or disk: all tags but ours and those of AWS. */
export const metadataIn = (set: TagSet): Tags =>
  Object.fromEntries(
    Object.entries(tagsIn(set)).filter(([key]) => !key.startsWith(OURS) && !key.startsWith("aws:")),
  );

/**
 * Returns tags that EC2 takes. Values are cut as upstream cuts them; keys of AWS and of ours, and what is more than fifty,
 * are left out with a warning: tags are for people, and a VM must not fail for them.
 */
export function acceptableTags(
  given: Readonly<Record<string, unknown>>,
  own: Tags,
  warn: (line: string) => void,
): Tags {
  const taken: Record<string, string> = { ...own };
  const left: string[] = [];
  for (const [key, value] of Object.entries(given)) {
    if (value === null || value === undefined) continue;
    const name = key.slice(0, LONGEST_KEY);
    const refused = name === "" || /^(aws|slipway):/i.test(name);
    if (refused || (Object.keys(taken).length >= MOST && !Object.hasOwn(taken, name))) left.push(key);
    else taken[name] = textOf(value).slice(0, LONGEST_VALUE);
  }
  if (left.length > 0)
    warn(
      `tags that EC2 does not take were left out (50 at most, no names with aws: or slipway:): ${left.join(", ")}`,
    );
  return taken;
}

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);

/** The `TagSpecification` of actions that make something: it has its tags from the first moment. */
export const tagSpecification = (types: readonly string[], tags: Tags) =>
  types.map((ResourceType) => ({ ResourceType, Tag: tagList(tags) }));

export const tagList = (tags: Tags) => Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

export async function createTags(cloud: AwsCloud, ids: readonly string[], tags: Tags): Promise<void> {
  if (ids.length === 0 || Object.keys(tags).length === 0) return;
  await cloud.ec2.call(v.unknown(), "CreateTags", { ResourceId: ids, Tag: tagList(tags) });
}
