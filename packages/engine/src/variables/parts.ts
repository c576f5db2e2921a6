import type { Place } from "../documents/placeholders.ts";

/** `*` is any place of a list, `?` any key. */
type Pattern = readonly string[];

const JOB = [["properties"], ["consumes", "?", "properties"]] as const;
const jobsOf = (...before: readonly string[]): readonly Pattern[] => JOB.map((rest) => [...before, ...rest]);

const ADDONS: readonly Pattern[] = [["addons", "*", "properties"], ...jobsOf("addons", "*", "jobs", "*")];

/** Paths that are resolved when an instance is made or its jobs are rendered, not when the document is read. */
const LATE = {
  manifest: [
    ["properties"],
    ["instance_groups", "*", "properties"],
    ["instance_groups", "*", "env"],
    ...jobsOf("instance_groups", "*", "jobs", "*"),
    ...ADDONS,
  ],
  runtime: ADDONS,
  // Each value by itself: a variable may also stand for all of them, and whether it is a map is checked early.
  cloud: [
    ["azs", "*", "cloud_properties", "?"],
    ["networks", "*", "cloud_properties", "?"],
    ["networks", "*", "subnets", "*", "cloud_properties", "?"],
    ["vm_types", "*", "cloud_properties", "?"],
    ["vm_extensions", "*", "cloud_properties", "?"],
    ["disk_types", "*", "cloud_properties", "?"],
    ["compilation", "cloud_properties", "?"],
  ],
} satisfies Record<string, readonly Pattern[]>;

export type DocumentKind = keyof typeof LATE;

/** Returns true if a part is resolved when the document is read. Definitions of variables are resolved separately. */
export const isResolvedEagerly =
  (kind: DocumentKind) =>
  (place: Place): boolean =>
    place[0] !== "variables" && !LATE[kind].some((pattern) => begins(place, pattern));

/**
 * Works as `isResolvedEagerly` for all documents of a deploy at once, `{manifest, cloudConfigs, runtimeConfigs}`, so that missing variables
 * of all of them are reported together.
 */
export function isResolvedEagerlyInDeploy([document, ...place]: Place): boolean {
  if (document === undefined) return true;
  if (document === "manifest") return isResolvedEagerly("manifest")(place);
  return isResolvedEagerly(document === "cloudConfigs" ? "cloud" : "runtime")(place.slice(1));
}

/** Tells, for the same documents, where a variable stands for all cloud properties of something. */
export const isAllCloudProperties = ([document, _, ...place]: Place): boolean =>
  document === "cloudConfigs" &&
  LATE.cloud.some((pattern) => pattern.length === place.length + 1 && begins([...place, ""], pattern));

/** Env of groups is filled in late, but must be known when a deploy begins. */
export const isEnv = (place: Place): boolean =>
  ENV.every((piece, at) => place.length <= at || piece === "*" || place[at] === piece);

const ENV: Pattern = ["instance_groups", "*", "env"];

const begins = (place: Place, pattern: Pattern): boolean =>
  pattern.length <= place.length &&
  pattern.every((piece, at) => {
    const here = place[at];
    if (piece === "*") return typeof here === "number";
    return piece === "?" ? typeof here === "string" : here === piece;
  });
