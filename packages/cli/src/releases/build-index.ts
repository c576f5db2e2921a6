import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { compareBytes } from "@slipway/engine/releases/source/fingerprint";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { readYamlFile, yamlFile } from "./read-yaml.ts";

export type ResourceKind = "job" | "package" | "license";

/** Record of an archive that was built before. */
export interface Build {
  readonly fingerprint: string;
  readonly digest: string;
  /** Set for final builds only. */
  readonly blobstoreId: string | undefined;
}

const scalar = v.union([v.string(), v.number()]);
const indexFile = open({
  builds: v.optional(
    v.nullable(
      mapOf(open({ version: scalar, sha1: v.string(), blobstore_id: v.optional(v.nullable(v.string())) })),
    ),
  ),
});

const FOLDER: Readonly<Record<ResourceKind, string>> = {
  job: "jobs",
  package: "packages",
  license: "license",
};

/** `.dev_builds` or `.final_builds` of a release directory. */
export class BuildIndex {
  readonly #dir: string;

  constructor(dir: string, which: ".dev_builds" | ".final_builds") {
    this.#dir = join(dir, which);
  }

  async find(kind: ResourceKind, name: string, fingerprint: string): Promise<Build | undefined> {
    const found = Object.values(await this.#read(kind, name)).find(
      ({ version }) => String(version) === fingerprint,
    );
    return found === undefined
      ? undefined
      : { fingerprint, digest: found.sha1, blobstoreId: found.blobstore_id ?? undefined };
  }

  /** Instead of what was known of the same fingerprint. */
  async put(kind: ResourceKind, name: string, { fingerprint, digest, blobstoreId }: Build): Promise<void> {
    const builds = {
      ...(await this.#read(kind, name)),
      [fingerprint]: {
        version: fingerprint,
        ...(blobstoreId !== undefined && { blobstore_id: blobstoreId }),
        sha1: digest,
      },
    };
    const sorted = Object.entries(builds).sort(([a], [b]) => compareBytes(a, b));
    await saveIndex(this.#file(kind, name), new Map(sorted));
  }

  async #read(kind: ResourceKind, name: string) {
    return (await readYamlFile(this.#file(kind, name), indexFile))?.builds ?? {};
  }

  #file(kind: ResourceKind, name: string): string {
    return join(this.#dir, FOLDER[kind], ...(kind === "license" ? [] : [name]), "index.yml");
  }
}

export async function saveIndex(file: string, builds: ReadonlyMap<string, unknown>): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const text = yamlFile(
    new Map<string, unknown>([
      ["builds", builds],
      ["format-version", "2"],
    ]),
  );
  await writeFileAtomic(file, text, 0o644);
}
