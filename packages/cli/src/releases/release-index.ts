import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { compareBytes } from "@slipway/engine/releases/source/fingerprint";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import type { Random } from "@slipway/kernel/random";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import { saveIndex } from "./build-index.ts";
import { ReleaseVersionThere } from "./errors.ts";
import { readYamlFile } from "./read-yaml.ts";

const indexFile = open({
  builds: v.optional(v.nullable(mapOf(open({ version: v.union([v.string(), v.number()]) })))),
});

/** The versions that were made: `dev_releases` or `releases` of a release directory. */
export class ReleaseIndex {
  readonly #dir: string;
  readonly #random: Random;

  constructor(dir: string, which: "dev_releases" | "releases", random: Random) {
    this.#dir = join(dir, which);
    this.#random = random;
  }

  async versions(name: string): Promise<readonly string[]> {
    return Object.values(await this.#read(name)).map(({ version }) => String(version));
  }

  async mustNotHave(name: string, version: string): Promise<void> {
    if ((await this.versions(name)).includes(version)) throw ReleaseVersionThere({ name, version });
  }

  manifestFile(name: string, version: string): string {
    return join(this.#dir, name, `${name}-${version}.yml`);
  }

  async add(name: string, version: string, manifest: string): Promise<void> {
    await this.mustNotHave(name, version);
    const builds = { ...(await this.#read(name)), [this.#random.uuid()]: { version } };
    await mkdir(join(this.#dir, name), { recursive: true });
    await writeFileAtomic(this.manifestFile(name, version), manifest, 0o644);
    const sorted = Object.entries(builds).sort(([a], [b]) => compareBytes(a, b));
    await saveIndex(join(this.#dir, name, "index.yml"), new Map(sorted));
  }

  async #read(name: string) {
    return (await readYamlFile(join(this.#dir, name, "index.yml"), indexFile))?.builds ?? {};
  }
}
