import type { Given } from "../command.ts";

/** The switches as the Director takes them. What was not given is not sent. */
export function deployQuery(
  given: Given,
  flags: ReadonlySet<string>,
  skipDrain: readonly string[],
  context: unknown,
): Record<string, string | undefined> {
  const on = (option: string) => (given.flag(option) || flags.has(option) ? "true" : undefined);
  const before = given.text("recreate-vms-created-before");
  return {
    recreate: before === undefined ? on("recreate") : "true",
    recreate_vms_created_before: before,
    recreate_persistent_disks: on("recreate-persistent-disks"),
    fix: on("fix"),
    skip_drain: skipDrain.length === 0 ? undefined : skipDrain.join(","),
    canaries: given.text("canaries"),
    max_in_flight: given.text("max-in-flight"),
    dry_run: on("dry-run"),
    force_latest_variables: on("force-latest-variables"),
    context: context === undefined || context === null ? undefined : JSON.stringify(context),
  };
}
