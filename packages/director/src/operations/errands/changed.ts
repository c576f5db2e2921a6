import { createHash } from "node:crypto";
import type { InstanceUuid } from "@slipway/engine/model/names";
import type { InstanceJobs } from "@slipway/engine/model/records";
import { listEvents } from "../../store/events.ts";
import type { Db } from "../../store/schema.ts";

/** One instance that an errand runs on, with what it runs there. */
export interface Ran {
  readonly group: string;
  readonly uuid: InstanceUuid;
  readonly jobs: InstanceJobs | null | undefined;
}

/** Changes exactly when an instance, a file of its jobs or a package does. */
export function stateOf(instances: readonly Ran[]): string {
  const parts = instances.map(({ group, uuid, jobs }) => [
    `${group}/${uuid}`,
    jobs?.configurationHash ?? "",
    (jobs?.packages ?? []).map(({ name, version, digest }) => `${name}/${version}/${digest}`).sort(),
  ]);
  parts.sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}

/** Reports whether its last run was on these instances as they are now, and succeeded on all. The events record it. */
export async function ranAlready(
  db: Db,
  errand: { readonly deployment: string; readonly name: string },
  instances: readonly Ran[],
  state: string,
): Promise<boolean> {
  const events = await listEvents(db, {
    deployment: errand.deployment,
    objectType: "errand",
    objectName: errand.name,
    action: "run",
  });
  const ended = events.filter(({ context, error }) => error !== null || context.exit_code !== undefined);
  const [last] = ended;
  if (last === undefined) return false;
  const of = new Map(
    ended
      .filter(({ taskId }) => taskId === last.taskId)
      .map(({ instance, context, error }) => [
        instance,
        error === null && context.exit_code === 0 && context.state === state,
      ]),
  );
  return instances.every(({ group, uuid }) => of.get(`${group}/${uuid}`) === true);
}
