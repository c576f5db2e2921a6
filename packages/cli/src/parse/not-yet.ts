/** Upstream's commands that are still to come, with their short names. */
export const NOT_YET: ReadonlySet<string> = new Set([
  ...["cancel-tasks", "cts"],
  ...["create-recovery-plan", "recover"],
  ...["unalias-env"],
  ...["pcap"],
]);
