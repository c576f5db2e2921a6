import { messageTrail } from "@slipway/kernel/errors";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import type { Answered } from "../api/services.ts";
import { directorLog, type LogFields, type LogSettings } from "../log/log.ts";
import type { Exposition } from "../metrics/exposition.ts";
import { Counters } from "../self/counters.ts";
import { lookAtSelf, type SelfParts } from "../self/look.ts";
import { selfMetrics } from "../self/metrics.ts";
import { UNWATCHED, watchedBy } from "../tasks/watch.ts";
import { collectorOf } from "../tracing/collector.ts";
import { tracedTasks } from "../tracing/traced.ts";
import { Tracing } from "../tracing/tracing.ts";
import { loggedRequests, loggedTasks } from "../watch/logged.ts";
import type { StartOptions } from "./director.ts";

const logSettings = ({ logging = {} }: DirectorConfig): LogSettings => ({
  level: logging.level ?? "info",
  format: logging.format ?? "text",
});

/** Metrics of what agents have put into the blob service. */
type AgentMetrics = (into: Exposition) => void;

/** Opens what the operator observes the Director with: log, traces and counters. */
export async function openObservability(
  options: StartOptions,
  atClose: (close: () => Promise<void>) => void,
) {
  const { config, clock, random, version } = options;
  const log = directorLog(clock, logSettings(config), options.log);
  const who = { version, name: config.name ?? "slipway" };
  const tracing = new Tracing({ clock, log: (line) => log.warn(line) });
  tracing.use(await collectorOf(config.tracing, who));
  atClose(() => tracing.close());
  const traced = tracedTasks((span) => tracing.add(span), { clock, random });
  let everyone = config.logging?.access_events ?? false;
  const requests = loggedRequests(log, () => everyone);
  const counters = new Counters(clock);
  return {
    lines: log,
    log: (line: string) => log.warn(line),
    // Logged with all its causes: the answer to the caller says no more than that it is here.
    onError: (error: unknown, about?: LogFields) => log.error(messageTrail(error), about),
    onAnswered: (answered: Answered) => {
      requests(answered);
      counters.answered(answered);
    },
    /** Returns what the API says of the Director itself. */
    selfReport: ({
      agentMetrics,
      ...parts
    }: SelfParts & { readonly agentMetrics?: AgentMetrics | undefined }) => {
      const self = () => lookAtSelf(parts);
      return {
        self,
        metrics: async (into: Exposition) => {
          selfMetrics(await self(), into);
          counters.tell(into);
          agentMetrics?.(into);
        },
      };
    },
    watch: watchedBy([
      loggedTasks(log, clock),
      counters.watch,
      // A task that began without has no half of a trace.
      (task) => (tracing.on ? traced(task) : UNWATCHED),
    ]),
    /** Prepares settings that can change while the Director runs: throws if they are unusable, else returns what applies them. */
    prepare: async (changed: DirectorConfig) => {
      const collector = await collectorOf(changed.tracing, who);
      return () => {
        log.use(logSettings(changed));
        everyone = changed.logging?.access_events ?? false;
        tracing.use(collector);
      };
    },
  };
}
