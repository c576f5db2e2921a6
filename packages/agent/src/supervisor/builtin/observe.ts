import type { Service } from "../monit-file/model.ts";
import {
  isAlive,
  type ProcessId,
  pidIn,
  processMatching,
  processOfPidfile,
  processRunning,
} from "./procfs.ts";
import type { RememberedService } from "./state.ts";
import { type Busy, type Desired, type WatchedService, watched } from "./watched.ts";

/** Finds the process of a service. One that is known stays known while it lives, unless the pidfile names another. */
export function observe(one: WatchedService, now: number): void {
  const { target } = one.service;
  const known = one.process !== undefined && isAlive(one.process) ? one.process : undefined;
  one.process = known;
  if (target.by === "pidfile") {
    if (known !== undefined && pidIn(target.path) === known.pid) return;
    one.process = processOfPidfile(target.path, now) ?? known;
  } else if (target.by === "matching" && known === undefined) {
    one.process = processMatching(new RegExp(target.pattern), process.pid);
  }
}

/** Service that a new process of the agent takes over. */
export interface Adopted {
  readonly one: WatchedService;
  /** Process that the service had. If it is gone, it ended while no agent watched. */
  readonly had: ProcessId | undefined;
}

export function adopt(
  service: Service,
  known:
    | { readonly services: ReadonlyMap<string, RememberedService>; readonly sameBoot: boolean }
    | undefined,
  stopped: boolean,
  now: number,
): Adopted {
  const record = known?.services.get(service.name);
  const one = watched(service, desiredAfter(service, record?.desired, known?.sameBoot ?? false, stopped));
  const had = known?.sameBoot === true ? record?.process : undefined;
  one.process = had;
  one.busy =
    known?.sameBoot === true && record?.busy !== undefined ? stillBusy(service, record.busy) : undefined;
  if (service.kind === "process") observe(one, now);
  one.confirmed = one.process !== undefined || service.kind !== "process";
  return { one, had };
}

/**
 * Returns the desired state after a restart. Without a record, as after a torn file, all services run unless stopped.
 */
function desiredAfter(
  service: Service,
  before: Desired | undefined,
  sameBoot: boolean,
  stopped: boolean,
): Desired {
  if (before === undefined) return stopped || service.mode === "manual" ? "none" : "run";
  if (sameBoot || before !== "run") return before;
  return service.mode === "manual" || service.onReboot === "nostart" ? "none" : "run";
}

/**
 * A start or stop program that goes on without the agent that ran it. One that was about to be run when the agent
 * ended is looked for by its words: two of them at once would start a job twice.
 */
function stillBusy(service: Service, busy: NonNullable<RememberedService["busy"]>): Busy | undefined {
  const program = busy.doing === "starting" ? service.start : service.stop;
  const { doing, since, until } = busy;
  if (busy.program !== undefined)
    return isAlive(busy.program) ? { doing, since, until, program: busy.program } : undefined;
  const found = program === undefined ? undefined : processRunning(program.argv, process.pid);
  return found === undefined ? undefined : { doing, since, until, program: found };
}
