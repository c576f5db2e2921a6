import { clockText } from "../ui/time-text.ts";
import {
  type DirectorState,
  nameOf,
  type ProgressOfTask,
  type WatchedInstance,
  type WatchedTask,
} from "./model.ts";

/** Something that has become otherwise: a line for people, and a document for programs. */
export interface StateChangeLine {
  readonly line: string;
  readonly document: object;
}

/** Returns the differences; without a `before`, everything is one. */
export function changesBetween(
  before: DirectorState | undefined,
  after: DirectorState,
): readonly StateChangeLine[] {
  const at = after.at;
  const told = (text: string, type: string, rest: object): StateChangeLine => ({
    line: `${clockText(at)} ${text}`,
    document: { time: new Date(at).toISOString(), type, ...rest },
  });
  return [
    ...troubles(before, after, told),
    ...(after.note !== "" && after.note !== before?.note
      ? [told(after.note, "note", { text: after.note })]
      : []),
    ...deployments(before, after, told),
    ...instances(before?.instances ?? [], after.instances, told),
    ...tasks(before?.tasks ?? [], after.tasks, told),
    ...events(before, after, told),
  ];
}

type MakeLine = (text: string, type: string, rest: object) => StateChangeLine;

function troubles(
  before: DirectorState | undefined,
  after: DirectorState,
  told: MakeLine,
): readonly StateChangeLine[] {
  const [was, is] = [before?.trouble, after.trouble];
  if (is !== undefined && was === undefined)
    return [told(`the Director does not answer: ${is.why}`, "director", { answers: false, why: is.why })];
  return was !== undefined && is === undefined
    ? [told("the Director answers again", "director", { answers: true })]
    : [];
}

function deployments(
  before: DirectorState | undefined,
  after: DirectorState,
  told: MakeLine,
): readonly StateChangeLine[] {
  const gone = (before?.deployments ?? []).filter((name) => !after.deployments.includes(name));
  const come = after.deployments.filter((name) => !(before?.deployments ?? []).includes(name));
  const of = (change: string) => (name: string) =>
    told(`${name}: deployment ${change}`, "deployment", { deployment: name, change });
  return [...gone.map(of("gone")), ...come.map(of(before === undefined ? "seen" : "appeared"))];
}

function instances(
  before: readonly WatchedInstance[],
  after: readonly WatchedInstance[],
  told: MakeLine,
): readonly StateChangeLine[] {
  const known = new Map(before.map((one) => [one.key, one]));
  const still = new Set(after.map(({ key }) => key));
  const of = (one: WatchedInstance, change: string, text: string) =>
    told(`${one.deployment} ${nameOf(one)}: ${text}`, "instance", { change, ...documentOf(one) });
  return [
    ...before.filter(({ key }) => !still.has(key)).map((one) => of(one, "gone", "gone")),
    ...after.flatMap((one) => {
      const was = known.get(one.key);
      if (was === undefined) return [of(one, "appeared", stateText(one))];
      // Vitals differ each time; they alone are no news.
      return newsOf(was) === newsOf(one) ? [] : [of(one, "changed", `${fromTo(was, one)}${stateText(one)}`)];
    }),
  ];
}

const newsOf = ({ vitals: _, since: __, ...news }: WatchedInstance): string => JSON.stringify(news);

const fromTo = (was: WatchedInstance, is: WatchedInstance) =>
  was.state === is.state ? "" : `${was.state} -> `;

function stateText({ state, ips, vm, problems, action, processes }: WatchedInstance): string {
  const stopped = processes.filter((one) => one.state !== "running");
  return [
    state,
    ...(ips.length === 0 ? [] : [ips.join(" ")]),
    vm === "" ? "no VM" : `VM ${vm}`,
    ...(processes.length === 0 ? [] : [`processes ${processes.length - stopped.length}/${processes.length}`]),
    ...problems,
    ...(problems.length > 0 ? [] : stopped.map(({ name, state: how }) => `${name} is ${how}`)),
    ...(action === "" ? [] : [action]),
  ].join(", ");
}

const documentOf = (one: WatchedInstance) => ({
  deployment: one.deployment,
  instance: `${one.group}/${one.id}`,
  index: one.index,
  state: one.state,
  az: one.az,
  ips: one.ips,
  vm_cid: one.vm,
  problems: one.problems,
  since: one.since === undefined ? null : new Date(one.since).toISOString(),
  action: one.action,
  processes: one.processes,
  vitals: one.vitals,
});

function tasks(
  before: readonly WatchedTask[],
  after: readonly WatchedTask[],
  told: MakeLine,
): readonly StateChangeLine[] {
  const known = new Map(before.map((one) => [one.id, one]));
  return after.flatMap((one) => {
    const was = known.get(one.id);
    if (was !== undefined && taskNews(was) === taskNews(one)) return [];
    const { progress } = one;
    const where = progress === undefined ? "" : `, ${progress.stage}${doneText(progress)}${stepsText(one)}`;
    const why = one.result !== "" && one.state !== "done" ? `: ${one.result}` : "";
    const whose = one.deployment === "" ? "" : `${one.deployment} `;
    return [
      told(`${whose}task ${one.id} (${one.description}): ${one.state}${where}${why}`, "task", {
        ...{ task: one.id, state: one.state, description: one.description, deployment: one.deployment },
        ...{ user: one.user, result: one.result, progress: progress ?? null },
      }),
    ];
  });
}

/** Returns the progress of a stage with a known number of steps; empty for others. */
const doneText = ({ done, total }: ProgressOfTask) => (total === 0 ? "" : ` ${done}/${total}`);

const stepsText = ({ progress }: WatchedTask) =>
  progress === undefined || progress.steps.length === 0 ? "" : `: ${progress.steps.join(", ")}`;

const taskNews = ({ state, progress }: WatchedTask): string => JSON.stringify([state, progress]);

/** Returns new events, the oldest first. Earlier ones are no change. */
function events(
  before: DirectorState | undefined,
  after: DirectorState,
  told: MakeLine,
): readonly StateChangeLine[] {
  if (before === undefined) return [];
  const known = new Set(before.events.map(({ id }) => id));
  return [...after.events]
    .filter(({ id }) => !known.has(id))
    .reverse()
    .map((one) => {
      const whose = one.deployment === "" ? "" : `${one.deployment} `;
      return told(`${whose}event ${one.id}: ${one.text}`, "event", {
        ...{ id: one.id, text: one.text, failed: one.failed, deployment: one.deployment, task: one.task },
      });
    });
}
