import type { Connection } from "./hearing.ts";
import { type Finding, type Known, STATUSES, type Status, type Verdict, type Watched } from "./model.ts";

export interface Limits {
  /** Longest silence of an agent. */
  readonly silentMs: number;
  /** Interval of questions to an agent. */
  readonly intervalMs: number;
}

/** A single lost question is no silence. */
const LEAST_QUESTIONS = 2;

/** Facts that a verdict depends on, besides the agent's own report. */
export interface Circumstances {
  /** `AwakeTime`. */
  readonly now: number;
  /** Time since which the instance has lacked its VM. */
  readonly absentSince: number | undefined;
  /** Connection over which the agent is heard; undefined if each agent has its own. */
  readonly connection?: Connection | undefined;
}

/**
 * Judges whether an instance is what it should be: its VM there, its agent answering, its disk mounted, its processes running.
 */
export function judge(
  watched: Watched,
  known: Known | undefined,
  { now, absentSince, connection }: Circumstances,
  limits: Limits,
): Verdict {
  if (watched.ignore) return alone("ignored", "it is ignored, and its agent not asked");
  if (watched.state === "detached") return alone("detached", "it is stopped, and its VM deleted");
  if (watched.vm === undefined && watched.errand)
    return alone("idle", "its errand does not run, and it has a VM only while it does");
  if (watched.vm === undefined) return withoutVm(watched, now - (absentSince ?? now) >= limits.silentMs);
  if (known === undefined) return alone("unknown", "its agent has not been asked yet");
  if (connection?.up === false && now - connection.since >= limits.intervalMs)
    return {
      ...alone("unknown", "the Director has no connection to NATS, and cannot hear its agent"),
      suspect: true,
    };
  const { answered, failed, refused } = known;
  const suspect = failed !== undefined;
  if (refused !== undefined) return { ...alone("refused", refused.why), since: refused.at, suspect: false };
  if (failed !== undefined && silentFor(known, now, connection, limits) >= limits.silentMs)
    return {
      status: "unresponsive",
      findings: [{ status: "unresponsive", what: silenceOf(known, failed.why) }],
      since: answered?.at ?? known.watchedAt,
      // Of one that was never deployed it is not known what it should be: that is the next deploy's.
      toHeal: watched.deployed && failed.times >= LEAST_QUESTIONS,
      suspect,
    };
  if (answered === undefined) return { ...alone("unknown", "its agent has not answered yet"), suspect };
  const findings = [...diskOf(watched, known), ...jobsOf(watched, known), ...updateOf(watched)];
  const status = worst(findings);
  return { status, findings, since: undefined, toHeal: resumes(watched), suspect };
}

/**
 * Returns how long the agent has been silent. Silence begins with the last answer, but not earlier than one interval before the
 * first unanswered question: the agent is not blamed if the Director asks late. Time without a connection does not count, nor
 * does the while that agents need to be back.
 */
function silentFor(
  { watchedSince, answered, failed }: Known,
  now: number,
  connection: Connection | undefined,
  limits: Limits,
): number {
  if (failed === undefined || connection?.up === false) return 0;
  const heard = answered?.awake ?? watchedSince;
  return now - Math.max(heard, failed.awake - limits.intervalMs, connection?.since ?? heard);
}

const silenceOf = ({ leaves }: Known, why: string): string =>
  leaves === undefined ? why : `${why}; it had said that it shuts down`;

function withoutVm(watched: Watched, longEnough: boolean): Verdict {
  if (!watched.deployed) return alone("unfinished", "no deploy has brought it up yet");
  return { ...alone("no_vm", "it has no VM"), toHeal: longEnough };
}

/** A resurrection that was begun and did not come to its end goes on, although the new agent answers. */
const resumes = ({ updateCompleted, resurrection }: Watched): boolean =>
  !updateCompleted && resurrection?.begun === true;

function diskOf({ vm, deployment, group, uuid }: Watched, { answered }: Known): readonly Finding[] {
  if (vm?.disk === undefined || answered === undefined) return [];
  if (answered.report.mounted === false)
    return [{ status: "disk_not_mounted", what: `its disk ${vm.disk} is not mounted` }];
  if (!answered.report.readOnly) return [];
  // A stop would wait for drain scripts, which cannot write.
  const what =
    `its disk ${vm.disk} was set to read-only by the kernel, after an error: look after the disk below it, ` +
    `which may be full, then type: slipway -d ${deployment} recreate ${group}/${uuid} --skip-drain`;
  return [{ status: "disk_read_only", what }];
}

function jobsOf({ state }: Watched, { answered }: Known): readonly Finding[] {
  if (answered === undefined) return [];
  const { jobState, processes } = answered.report;
  const runs = jobState === "running";
  if (runs === (state === "started")) return [];
  if (runs) return [{ status: "failing", what: "its processes run, and should be stopped" }];
  if (state === "stopped") return [];
  const not = processes.filter((one) => one.state !== "running").map((one) => `${one.name} ${one.state}`);
  return [{ status: "failing", what: `${jobState}${not.length === 0 ? "" : `: ${not.join(", ")}`}` }];
}

const updateOf = ({ updateCompleted, resurrection }: Watched): readonly Finding[] =>
  updateCompleted
    ? []
    : [
        {
          status: "unfinished",
          what:
            resurrection?.begun === true
              ? "its resurrection has not come to its end"
              : "an update of it was begun and has not ended; deploy again",
        },
      ];

const alone = (status: Status, what: string): Verdict => ({
  status,
  findings: [{ status, what }],
  since: undefined,
  toHeal: false,
  suspect: false,
});

const worst = (findings: readonly Finding[]): Status =>
  STATUSES.find((status) => findings.some((one) => one.status === status)) ?? "healthy";
