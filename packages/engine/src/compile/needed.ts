import type { ExportedFrom } from "../manifest/model.ts";
import { dependencyKeys } from "../releases/dependency-key.ts";
import type { CompileKey, KnownJob, KnownPackage, KnownRelease } from "../releases/model.ts";

export interface CompileStemcell {
  readonly os: string;
  readonly version: string;
  /** An alias of the manifest, for the VM it is compiled on. */
  readonly alias: string;
}

/** A package as one stemcell needs it, with what it is compiled with. */
export interface NeededPackage {
  readonly release: KnownRelease;
  readonly package: KnownPackage;
  readonly stemcell: CompileStemcell;
  readonly key: CompileKey;
  /** Direct dependencies only: no other package is present during the compilation. */
  readonly dependencies: readonly NeededPackage[];
  /**
   * Stemcells whose compiled packages may be used, in order of preference; the package is never compiled then. Empty: no
   * restriction.
   */
  readonly exportedFrom: readonly ExportedFrom[];
}

/** Returns the key of one compilation, which all its users share. */
export const keyText = ({
  packageId,
  stemcellOs,
  stemcellVersion,
  dependencyKey: with_,
}: CompileKey): string => `${packageId} ${stemcellOs}/${stemcellVersion} ${with_}`;

/** Finds packages, each once for a stemcell, however many jobs want it. */
export class NeededPackages {
  readonly #made = new Map<string, NeededPackage>();
  readonly #keys = new Map<number, ReadonlyMap<string, string>>();

  /** All of them, each after what it is compiled with. */
  get inOrder(): readonly NeededPackage[] {
    return [...new Map([...this.#made.values()].map((one) => [keyText(one.key), one])).values()];
  }

  /** Lists the packages that a job is installed with. */
  ofJob(
    release: KnownRelease,
    job: KnownJob,
    stemcell: CompileStemcell,
    exportedFrom: readonly ExportedFrom[] = [],
  ): readonly NeededPackage[] {
    return job.job.packages.flatMap((name) => this.#find(release, name, stemcell, exportedFrom) ?? []);
  }

  /** Releases whose packages need each other are not taken in. */
  #find(
    release: KnownRelease,
    name: string,
    stemcell: CompileStemcell,
    exportedFrom: readonly ExportedFrom[],
  ): NeededPackage | undefined {
    const found = release.packages.find((one) => one.name === name);
    if (found === undefined) return undefined;
    const id = `${release.id} ${name} ${stemcell.os}/${stemcell.version}`;
    const made = this.#made.get(id);
    if (made !== undefined) return made;
    const keys = this.#keys.get(release.id) ?? dependencyKeys(release.packages);
    this.#keys.set(release.id, keys);
    const needed: NeededPackage = {
      release,
      package: found,
      stemcell,
      key: {
        packageId: found.id,
        stemcellOs: stemcell.os,
        stemcellVersion: stemcell.version,
        dependencyKey: keys.get(name) ?? "[]",
      },
      dependencies: found.dependencies.flatMap(
        (one) => this.#find(release, one, stemcell, exportedFrom) ?? [],
      ),
      exportedFrom,
    };
    this.#made.set(id, needed);
    return needed;
  }
}
