import { type Report, shown } from "../documents/problems.ts";
import type { KnownPackage } from "../releases/model.ts";
import { groupBy } from "./group-by.ts";
import type { PlacedJob } from "./model.ts";

const COLLISION = 80011;

interface Usage {
  readonly job: string;
  readonly release: string;
  readonly needed: KnownPackage;
}

/** Packages have one directory for each name: two of the same name on an instance must be the same. */
export function packageCollisions(placed: readonly PlacedJob[], report: Report): void {
  for (const [group, jobs] of groupBy(placed, (one) => one.group))
    for (const [name, [first, ...others]] of groupBy(jobs.flatMap(usages), ({ needed }) => needed.name)) {
      const other = first && others.find((one) => sameness(one) !== sameness(first));
      if (first === undefined || other === undefined) continue;
      report.add(
        COLLISION,
        `instance_groups[${shown(group.name)}].jobs`,
        `Package name collision detected in instance group '${group.name}': ${words(first)}, ${words(other)}. ` +
          "BOSH cannot currently collocate two packages with identical names and different fingerprints or dependencies",
        `Put the jobs on different instances, or use releases that have the same package '${shown(name)}'.`,
      );
    }
}

const usages = ({ known, release }: PlacedJob): readonly Usage[] =>
  release.packages
    .filter(({ name }) => known.job.packages.includes(name))
    .map((needed) => ({ job: known.name, release: release.name, needed }));

const sameness = ({ needed }: Usage): string =>
  JSON.stringify([needed.fingerprint, [...needed.dependencies].sort()]);

const words = ({ job, release, needed: { name, fingerprint } }: Usage): string =>
  `job '${release}/${job}' depends on package '${release}/${name}' with fingerprint '${fingerprint}'`;
