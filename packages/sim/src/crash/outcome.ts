import { differences, endState } from "../world/end-state.ts";
import type { CrashScenario, View } from "./scenario.ts";

/**
 * Where a scenario has ended, without the names that chance gave: after a crash it must be where it is without one. With a
 * CPI that forgets its requests, what may exist twice is among the strays, and does not count.
 */
export function outcomeOf({ cpi, goesBack }: CrashScenario, view: View, kept: ReadonlySet<string>): object {
  const { world, remembered, problems } = view;
  // Whoever goes back may take a way of his own: what counts is what the instances are.
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

/** What is not as it should be. Who goes back when his data is among the orphans already gets an empty disk. */
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
