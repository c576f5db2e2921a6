import type { NewTask } from "@slipway/director/tasks/task";
import type { Scenario } from "../crash/scenarios.ts";

/** The deploy of an operator after a mishap: what was wanted, and `fix` when an agent is gone for good. */
export function nextTask({ task, again }: Scenario, fix: boolean): NewTask {
  const next = again ?? task;
  if (next.type === "delete_deployment") return { ...next, params: { force: fix } };
  return withOptions(next, { fix });
}

/** The deploy of an operator who goes back to what was before, with new VMs. */
export function otherTask({ before }: Scenario, fix: boolean): NewTask | undefined {
  const last = before.at(-1);
  return last && withOptions(last, { fix, recreate: true });
}

const withOptions = (task: NewTask, more: object): NewTask => ({
  ...task,
  params: { ...task.params, options: { ...(task.params.options as object), ...more } },
});

/** Works through a queue at several benches; what each case finds is gathered. */
export async function acrossBenches<B, C>(
  benches: readonly B[],
  cases: readonly C[],
  work: (bench: B, one: C) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const broken: string[] = [];
  const queue = cases.values();
  await Promise.all(
    benches.map(async (bench) => {
      for (const one of queue) broken.push(...(await work(bench, one)));
    }),
  );
  return broken;
}
