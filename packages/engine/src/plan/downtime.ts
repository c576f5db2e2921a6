import type { Situation } from "./steps.ts";

const DISK_WORK: Readonly<Record<string, string>> = {
  copy: " and its disk copied",
  resize: " and its disk resized",
  update: " and its disk changed",
  remove: " and its disk taken away",
  first: " and it gets its disk",
};

/** Describes the downtime of an instance and its reason; undefined: no downtime. */
export function downtimeOf({
  vmWork,
  recorded,
  desired,
  disk,
  named,
  inPlace,
  running,
}: Situation): string | undefined {
  const ofNamed = named.some(({ how }) => how !== "keep" && how !== "none")
    ? " and its named disks changed"
    : "";
  const more = `${DISK_WORK[disk.how] ?? ""}${ofNamed}`;
  if (recorded === undefined || recorded.spec === null) return undefined;
  if (vmWork === "create") return `until it has a VM again${more}`;
  if (inPlace === "stop") return "until it is started again: its jobs are stopped";
  if (desired.state === "stopped" && !running) return undefined;
  if (vmWork === "replace") return `while its VM is replaced${more}`;
  if (vmWork === "swap") return `while jobs and disk move to the new VM${more}`;
  return inPlace === "jobs" ? `while its jobs are restarted${more}` : undefined;
}
