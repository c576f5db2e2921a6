import type { Deployment } from "@slipway/protocol/director/deployment";
import type { OrphanDisk } from "@slipway/protocol/director/disk";
import type { Health, InstanceHealth } from "@slipway/protocol/director/health";
import type { DirectorStatus } from "@slipway/protocol/director/status";
import type { Task } from "@slipway/protocol/director/task";
import { countText, shellWord, wordsOf } from "./texts.ts";

/** Something that is wrong, why, and what to type. */
export interface Finding {
  /** `busy`: the Director works on it; nothing is to be typed. */
  readonly level: "bad" | "warning" | "busy";
  readonly title: string;
  readonly why: readonly string[];
  readonly commands: readonly string[];
  /** Address within the page. */
  readonly href?: string;
}

/** Answers that the overview has. Those that it may not ask for, or that are awaited, are absent. */
export interface FleetFacts {
  readonly status?: DirectorStatus | undefined;
  readonly health?: Health | undefined;
  readonly deployments?: readonly Deployment[] | undefined;
  /** The newest first. */
  readonly recentTasks?: readonly Task[] | undefined;
  readonly orphans?: readonly OrphanDisk[] | undefined;
}

export type Level = "well" | "bad" | "busy" | "quiet";

const LEVELS: Readonly<Record<string, Level>> = {
  healthy: "well",
  detached: "quiet",
  idle: "quiet",
  ignored: "quiet",
  unknown: "quiet",
  unfinished: "busy",
};

/** Level of an instance by its `health`. */
export const levelOf = (health: string): Level =>
  (Object.hasOwn(LEVELS, health) ? LEVELS[health] : undefined) ?? "bad";

const DAYS_OF_WARNING = 30;

/** Instances of one deployment with the same trouble, beyond which the page shows how many more there are. */
const MOST_NAMED = 5;

/** Everything that is wrong now, the worst first. */
export function findingsIn(facts: FleetFacts): readonly Finding[] {
  const all = [
    ...ofDirector(facts.status),
    ...ofInstances(facts.health),
    ...ofTasks(facts.recentTasks, facts.deployments),
    ...ofFleet(facts.health),
    ...ofDisks(facts.orphans),
  ];
  const order = ["bad", "warning", "busy"];
  return all.sort((a, b) => order.indexOf(a.level) - order.indexOf(b.level));
}

function ofDirector(status: DirectorStatus | undefined): Finding[] {
  if (status === undefined) return [];
  const found: Finding[] = status.problems.map((problem) => ({
    level: "bad",
    title: "The Director cannot work as it should",
    why: [problem],
    commands: ["slipway status --director"],
  }));
  for (const { certificate_path: path, days_left: days } of status.certificates) {
    if (days >= DAYS_OF_WARNING) continue;
    const ends = days < 0 ? "has ended" : `ends in ${countText(days, "day")}`;
    found.push({
      level: days < 7 ? "bad" : "warning",
      title: `A certificate of the Director ${ends}`,
      why: [path],
      commands: ["slipway status --director"],
    });
  }
  for (const name of status.restored?.not_looked_at ?? [])
    found.push({
      level: "warning",
      title: `${name} was restored from a backup and not looked at since`,
      why: ["What its VMs and disks are now may differ from what the backup says."],
      commands: [`slipway -d ${shellWord(name)} cloud-check`],
      href: `#/deployments/${encodeURIComponent(name)}`,
    });
  return found;
}

/** Instances with the same trouble are one finding: a cloud that is down is one line, not a thousand. */
function ofInstances(health: Health | undefined): Finding[] {
  const groups = new Map<string, InstanceHealth[]>();
  for (const one of health?.instances ?? []) {
    if (["well", "quiet"].includes(levelOf(one.health))) continue;
    const key = JSON.stringify([one.deployment, one.health, one.action ?? ""]);
    const alike = groups.get(key);
    if (alike === undefined) groups.set(key, [one]);
    else alike.push(one);
  }
  return [...groups.values()].map(findingOf);
}

function findingOf(alike: readonly InstanceHealth[]): Finding {
  const [first] = alike as [InstanceHealth];
  const name = (one: InstanceHealth) => `${one.instance_group}/${one.index}`;
  const named = alike.slice(0, MOST_NAMED).map(name).join(", ");
  const more = alike.length - MOST_NAMED;
  const who = more > 0 ? `${named} and ${more.toLocaleString("en")} more` : named;
  const busy = first.task != null;
  const deployment = encodeURIComponent(first.deployment);
  return {
    level: busy ? "busy" : "bad",
    title: `${first.deployment}: ${who} ${alike.length === 1 ? "is" : "are"} ${stateText(first.health)}`,
    why: [...new Set(alike.flatMap((one) => one.problems))].slice(0, MOST_NAMED).concat(first.action ?? []),
    commands: busy ? [] : commandsFor(first),
    href: busy
      ? `#/tasks/${first.task}`
      : alike.length === 1
        ? `#/deployments/${deployment}/instances/${encodeURIComponent(first.id)}`
        : `#/deployments/${deployment}`,
  };
}

const stateText = (health: string): string => (health === "no_vm" ? "without a VM" : wordsOf(health));

/** Returns the commands for an instance that is not well, as docs/health.md has them. */
export function commandsFor(one: Pick<InstanceHealth, "deployment" | "instance_group" | "index" | "health">) {
  const slipway = `slipway -d ${shellWord(one.deployment)}`;
  const instance = shellWord(`${one.instance_group}/${one.index}`);
  switch (one.health) {
    case "failing":
      return [`${slipway} logs ${instance}`, `${slipway} restart ${instance}`];
    case "unresponsive":
    case "no_vm":
    case "disk_not_mounted":
      return [`${slipway} cloud-check`];
    case "disk_read_only":
      return [`${slipway} ssh ${instance}`, `${slipway} recreate ${instance}`];
    case "refused":
      return [`${slipway} recreate --fix ${instance}`];
    case "unfinished":
      return [`${slipway} manifest > manifest.yml`, `${slipway} deploy manifest.yml`];
    default:
      return [`${slipway} health`];
  }
}

/** The last task of a deployment counts: one that failed before it was put right by another. */
function ofTasks(tasks: readonly Task[] = [], deployments: readonly Deployment[] | undefined): Finding[] {
  const seen = new Set<string>();
  const there = deployments && new Set(deployments.map(({ name }) => name));
  return tasks.flatMap((task) => {
    const { deployment } = task;
    if (deployment == null || seen.has(deployment)) return [];
    if (["queued", "processing", "cancelling"].includes(task.state)) return [];
    seen.add(deployment);
    if (there?.has(deployment) === false || !["error", "timeout"].includes(task.state)) return [];
    return [
      {
        level: "warning" as const,
        title: `${deployment}: task ${task.id}, ${task.description ?? "without a description"}, failed`,
        why: task.result ? [task.result] : [],
        commands: [`slipway task ${task.id}`, `slipway explain --task ${task.id}`],
        href: `#/tasks/${task.id}`,
      },
    ];
  });
}

function ofFleet(health: Health | undefined): Finding[] {
  if (health === undefined) return [];
  const found: Finding[] = (health.upkeep ?? []).map((what) => ({
    level: "warning",
    title: "Something is not done yet",
    why: [what],
    commands: ["slipway health"],
  }));
  if (!health.enabled)
    found.push({
      level: "warning",
      title: "Nobody watches the instances",
      why: ["`health.enabled` is false in the Director's configuration."],
      commands: [],
    });
  else if (health.resurrection.held)
    found.push({
      level: "warning",
      title: "VMs that die are not replaced",
      why: [health.resurrection.held],
      commands: ["slipway health --failing"],
    });
  return found;
}

function ofDisks(orphans: readonly OrphanDisk[] = []): Finding[] {
  const stuck = orphans.filter((disk) => disk.deleting_since !== undefined);
  if (stuck.length === 0) return [];
  return [
    {
      level: "warning",
      title: `${countText(stuck.length, "orphaned disk")} may or may not be deleted`,
      why: ["The Director has asked the cloud to delete them and does not know the outcome."],
      commands: stuck.slice(0, MOST_NAMED).map((disk) => `slipway delete-disk ${shellWord(disk.disk_cid)}`),
    },
  ];
}
