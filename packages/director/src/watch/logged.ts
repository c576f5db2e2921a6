import type { Clock } from "@slipway/kernel/clock";
import type { Answered } from "../api/services.ts";
import type { Log } from "../log/log.ts";
import { NO_STEP, type TaskWatch } from "../tasks/watch.ts";

/** Logs a line for each request. Those that only read are many, and of interest when an operator looks for trouble. */
export const loggedRequests =
  (log: Log, everyone: () => boolean) =>
  ({ id, method, path, status, ms, user, from, location }: Answered): void => {
    const task = /^\/tasks\/(\d+)$/.exec(location)?.[1];
    const reads = method === "GET" || method === "HEAD";
    const write = status >= 500 ? log.warn : reads && !everyone() ? log.debug : log.info;
    write(`${method} ${path} ${status}`, {
      request: id,
      ms: Math.round(ms),
      user,
      from,
      task: task === undefined ? undefined : Number(task),
    });
  };

/** A line where a run of a task begins and one where it ends, and between them one for each call to a CPI or an agent. */
export const loggedTasks =
  (log: Log, clock: Clock): TaskWatch =>
  ({ id: task, type, user, deployment, attempt, contextId }) => {
    const began = clock.monotonic();
    const request = contextId === "" ? undefined : contextId;
    const about = { task, request };
    log.info(attempt === 1 ? "task begins" : "task goes on", {
      ...about,
      ...{ type, deployment, user, attempt: attempt === 1 ? undefined : attempt },
    });
    return {
      step: () => NO_STEP,
      call: ({ to, message, ms, instance, request_id, error }) =>
        log.debug(message, { ...about, to, cpi_request: request_id, instance, ms, error }),
      ended: (how, result) => {
        const failed = how === "error";
        const ms = Math.round(clock.monotonic() - began);
        const why = failed ? result : undefined;
        (failed ? log.warn : log.info)(`task ${how}`, { ...about, type, deployment, ms, error: why });
      },
    };
  };
