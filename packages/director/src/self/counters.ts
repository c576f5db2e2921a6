import type { Clock } from "@slipway/kernel/clock";
import type { Answered } from "../api/services.ts";
import { type Exposition, Histogram, type Labels } from "../metrics/exposition.ts";
import { NO_STEP, type RunEnd, type TaskWatch } from "../tasks/watch.ts";

/** Counts requests, tasks, and calls to CPIs and agents while the Director runs. */
export class Counters {
  readonly #clock: Clock;
  readonly #requests = new ByLabels(() => new Histogram());
  readonly #refused = new ByLabels(() => ({ count: 0 }));
  readonly #tasks = new ByLabels(() => new Histogram());
  readonly #calls = new ByLabels(() => new Histogram());
  readonly #failed = new ByLabels(() => ({ count: 0 }));

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  answered({ method, route, status, ms }: Answered): void {
    this.#requests.of({ method, route }).observe(ms / 1000);
    if (status >= 400) this.#refused.of({ method, route, status }).count += 1;
  }

  readonly watch: TaskWatch = ({ type }) => {
    const began = this.#clock.monotonic();
    return {
      step: () => NO_STEP,
      call: ({ to, message, ms, error }) => {
        // Agents are many: which one is in the log.
        const [peer = "", ...name] = to.split(":");
        const labels = peer === "cpi" ? { peer, cpi: name.join(":"), message } : { peer, cpi: "", message };
        this.#calls.of(labels).observe(ms / 1000);
        if (error !== undefined) this.#failed.of(labels).count += 1;
      },
      ended: (state: RunEnd) =>
        this.#tasks.of({ type, state }).observe((this.#clock.monotonic() - began) / 1000),
    };
  };

  tell(into: Exposition): void {
    into.addHistogram("slipway_http_request_seconds", "Requests to the API, by route.", this.#requests.all());
    into.add(
      "slipway_http_refused_total",
      "counter",
      "Requests that were answered with a status of 400 or more.",
      counts(this.#refused),
    );
    into.addHistogram("slipway_task_seconds", "Runs of tasks that have ended.", this.#tasks.all());
    into.addHistogram("slipway_call_seconds", "Calls to CPIs and agents.", this.#calls.all());
    into.add(
      "slipway_call_errors_total",
      "counter",
      "Calls that failed or were refused.",
      counts(this.#failed),
    );
  }
}

const counts = (counted: ByLabels<{ count: number }>) =>
  [...counted.all()].map(([labels, { count }]) => [labels, count] as const);

/** Values for each combination of labels, which are few. */
class ByLabels<T> {
  readonly #make: () => T;
  readonly #known = new Map<string, readonly [Labels, T]>();

  constructor(make: () => T) {
    this.#make = make;
  }

  of(labels: Labels): T {
    const key = JSON.stringify(labels);
    const known = this.#known.get(key) ?? [labels, this.#make()];
    this.#known.set(key, known);
    return known[1];
  }

  all(): Iterable<readonly [Labels, T]> {
    return this.#known.values();
  }
}
