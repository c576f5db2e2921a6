import { differences, endState } from "../world/end-state.ts";
import type { CrashScenario, View } from "./scenario.ts";

/**
 * Returns the end of a scenario without random names: after a crash it must be the same as without one. With a CPI that
 * forgets its requests, what may exist twice is among the strays, and does not count.
 */
export function outcomeOf({ cpi, goesBack }: CrashScenario, view: View, kept: ReadonlySet<string>): object {
  const { world, remembered, problems } = view;
  // A scenario that goes back may take another path: only the state of the instances counts.
  if (goesBack !== undefined) return endState(world, remembered, kept);
  return {
    ...endState(world, remembered, kept),
    ignored: remembered.instances.filter(({ ignore }) => ignore).length,
    stemcells: remembered.stemcells.map(({ name, version }) => `${name}/${version}`).sort(),
    orphanedVms: remembered.orphanedVms.length,
    problems: problems.map(({ type }) => type).sort(),
    ...(cpi.remembers && {
      strays: remembered.strays.length,
      exists: { vms: world.vms.size, disks: world.disks.size, stemcells: world.stemcells.size },
    }),
  };
}

/**
 * Returns differences from the expected outcome. A scenario that goes back after its data was orphaned gets an empty
 * disk.
 */
export function outcomeDifferences(
  { goesBack }: CrashScenario,
  found: object,
  wanted: object,
): readonly string[] {
  const { orphaned } = found as { readonly orphaned?: readonly string[] };
  if (goesBack === undefined || (orphaned ?? []).length === 0) return differences(found, wanted);
  return differences(withoutContent(found), withoutContent(wanted));
}

const withoutContent = (outcome: object): unknown =>
  JSON.parse(
    JSON.stringify(outcome, (key, value: unknown) =>
      key === "content" || key === "orphaned" ? undefined : value,
    ),
  );
