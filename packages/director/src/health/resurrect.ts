import { expectsVm } from "@slipway/engine/model/records";
import type { Verdict, Watched } from "./model.ts";
import type { Rules } from "./rules.ts";

/** Limits beyond which too many are down at once for new VMs to be the answer. */
export interface Guard {
  /** For one deployment: at least so many instances, and so many percent of them, down within the window. */
  readonly minimumDown: number;
  readonly percentDown: number;
  /** For all agents: at least so many, and so many percent of them, silent now. */
  readonly fleetMinimum: number;
  readonly fleetPercent: number;
}

export interface Judged {
  readonly watched: Watched;
  readonly verdict: Verdict;
}

export interface Situation {
  /** True if the configuration of the Director enables resurrection. */
  readonly enabled: boolean;
  /** `update-resurrection off`. */
  readonly paused: boolean;
  /** Undefined: they cannot be read. */
  readonly rules: Rules | undefined;
  /** Deployments that were not looked at since the Director was restored from a backup. */
  readonly restored: ReadonlySet<string>;
  /** Deployments that a task works on, with its words. */
  readonly locked: ReadonlyMap<string, { readonly task: number; readonly description: string }>;
  /** Resurrections that wait or run: by instance, their task. */
  readonly open: ReadonlyMap<string, number>;
  /** Deployments with one. */
  readonly busy: ReadonlySet<string>;
  /** Instances that were tried not long ago, and seconds until they may be again. */
  readonly waits: ReadonlyMap<string, number>;
  /** True if so many agents were silent until just now that the fault was likely here: the others have a while to be back. */
  readonly settling: boolean;
  /** Instances that were down within the window, by deployment. */
  readonly down: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Current action for an instance that is not well. */
export interface Action {
  readonly what: string;
  readonly task?: number;
}

export interface Decision {
  /** Instances that get a new VM now, by deployment. */
  readonly heal: ReadonlyMap<string, readonly Watched[]>;
  readonly actions: ReadonlyMap<string, Action>;
  /** Deployments in which too many are down. */
  readonly meltdowns: ReadonlyMap<string, string>;
  /** Set if so many agents are silent, or were until just now, that the fault is more likely here. */
  readonly fleet: string | undefined;
  /** True while so many agents are silent now. */
  readonly cut: boolean;
}

const SETTLING =
  "nothing: most agents were silent until just now. Those that are still have a while to be back";

/** Decides which instances get a new VM, and why the others that need one do not. */
export function decide(judged: readonly Judged[], situation: Situation, guard: Guard): Decision {
  const trouble = fleetTrouble(judged, situation, guard);
  const fleet = trouble ?? (situation.settling ? SETTLING : undefined);
  const meltdowns = new Map<string, string>();
  for (const [deployment, its] of byDeployment(judged)) {
    const why = meltdown(its, situation.down.get(deployment) ?? new Set(), guard);
    if (why !== undefined) meltdowns.set(deployment, why);
  }
  const heal = new Map<string, Watched[]>();
  const actions = new Map<string, Action>();
  for (const { watched, verdict } of judged) {
    const task = situation.open.get(watched.uuid);
    if (task !== undefined) {
      actions.set(watched.uuid, { what: `task ${task} replaces its VM`, task });
      continue;
    }
    if (!verdict.toHeal) continue;
    const why = hindrance(watched, situation) ?? fleet ?? meltdowns.get(watched.deployment);
    if (why !== undefined) actions.set(watched.uuid, { what: why });
    else heal.set(watched.deployment, [...(heal.get(watched.deployment) ?? []), watched]);
  }
  return { heal, actions, meltdowns, fleet, cut: trouble !== undefined };
}

function hindrance(watched: Watched, situation: Situation): string | undefined {
  const { deployment, group, uuid } = watched;
  if (!situation.enabled) return "nothing: resurrection is off in the Director's configuration";
  if (situation.paused) return "nothing: resurrection is off (`update-resurrection on`)";
  if (watched.paused) return "nothing: its resurrection is paused";
  if (situation.rules === undefined) return "nothing: the resurrection config cannot be read";
  if (!situation.rules.allows(deployment, group)) return "nothing: the resurrection config forbids it";
  if (situation.restored.has(deployment))
    return "nothing: the Director was restored from a backup, and may not know its VMs. `cloud-check` looks at them";
  const lock = situation.locked.get(deployment);
  if (lock !== undefined) return `waits for task ${lock.task} (${lock.description})`;
  if (situation.busy.has(deployment)) return "waits for another resurrection in its deployment";
  const wait = situation.waits.get(uuid);
  if (wait !== undefined) return `the last try failed; the next is in ${Math.ceil(wait)} s`;
  return undefined;
}

/** Counts an instance whose last question was not answered as down: the others of a cut network follow within seconds. */
const isDown = ({ verdict: { suspect, toHeal } }: Judged): boolean => suspect || toHeal;

function meltdown(its: readonly Judged[], before: ReadonlySet<string>, guard: Guard): string | undefined {
  const counted = its.filter(
    ({ watched }) => !watched.ignore && (expectsVm(watched) || (watched.errand && watched.vm !== undefined)),
  );
  const down = counted.filter((one) => isDown(one) || before.has(one.watched.uuid)).length;
  if (!exceeds(down, counted.length, guard.minimumDown, guard.percentDown)) return undefined;
  return `nothing: ${down} of the deployment's ${counted.length} instances are down, or were within minutes. See to what they share; \`cloud-check\` replaces VMs by hand`;
}

function fleetTrouble(judged: readonly Judged[], { locked }: Situation, guard: Guard): string | undefined {
  // While a task works on them, agents come and go.
  const asked = judged.filter(
    ({ watched }) => watched.vm !== undefined && !watched.ignore && !locked.has(watched.deployment),
  );
  const silent = asked.filter(({ verdict }) => verdict.suspect).length;
  if (!exceeds(silent, asked.length, guard.fleetMinimum, guard.fleetPercent)) return undefined;
  return `nothing: ${silent} of all ${asked.length} agents are silent. See to the network between them and the Director`;
}

const exceeds = (count: number, of: number, least: number, percent: number): boolean =>
  count >= least && count * 100 >= of * percent;

function byDeployment(judged: readonly Judged[]): ReadonlyMap<string, readonly Judged[]> {
  const groups = new Map<string, Judged[]>();
  for (const one of judged) {
    const its = groups.get(one.watched.deployment);
    if (its === undefined) groups.set(one.watched.deployment, [one]);
    else its.push(one);
  }
  return groups;
}
