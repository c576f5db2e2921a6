import type { Clock } from "@slipway/kernel/clock";
import { durationText } from "../ui/time-text.ts";
import type { Progress, Ui } from "../ui/ui.ts";

/** Says what is done as upstream does: `Started deploying`, `  Creating disk... Finished (00:00:01)`. */
export interface Stages {
  /** A stage with steps of its own. */
  stage<T>(name: string, work: (stage: Stages) => Promise<T>): Promise<T>;
  step<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** Begins a step whose end is reported later. */
  begin(name: string): OpenStage;
  skipped(name: string, why: string): void;
}

export interface OpenStage {
  finished(): void;
  failed(): void;
  skipped(why: string): void;
}

/** Delay before an unfinished step is printed if lines cannot change. A shorter step is printed when it ends. */
const PATIENCE_MS = 5_000;

type Screen = Pick<Ui, "live" | "line" | "progress">;

function lineOn(ui: Screen, clock: Clock, text: string): Pick<Progress, "done" | "failed"> {
  if (ui.live) return ui.progress(text);
  const cancel = clock.after(PATIENCE_MS, () => ui.line(text));
  const end = (last = text) => {
    cancel();
    ui.line(last);
  };
  return { done: end, failed: end };
}

const took = (clock: Clock, started: number): string =>
  `(${durationText((clock.monotonic() - started) / 1000)})`;

export function stagesOn(ui: Screen, clock: Clock, indent = ""): Stages {
  const begin = (name: string): OpenStage => {
    const text = `${indent}${name}...`;
    const started = clock.monotonic();
    const line = lineOn(ui, clock, text);
    const after = () => took(clock, started);
    return {
      finished: () => line.done(`${text} Finished ${after()}`),
      failed: () => line.failed(`${text} Failed ${after()}`),
      skipped: (why) => line.done(`${text} Skipped [${why}] ${after()}`),
    };
  };
  return {
    begin,
    skipped: (name, why) => begin(name).skipped(why),
    step: async (name, work) => {
      const begun = begin(name);
      try {
        const result = await work();
        begun.finished();
        return result;
      } catch (error) {
        begun.failed();
        throw error;
      }
    },
    stage: async (name, work) => {
      const started = clock.monotonic();
      const after = () => took(clock, started);
      ui.line(`${indent}Started ${name}`);
      try {
        const result = await work(stagesOn(ui, clock, `${indent}  `));
        ui.line(`${indent}Finished ${name} ${after()}`);
        return result;
      } catch (error) {
        ui.line(`${indent}Failed ${name} ${after()}`);
        throw error;
      } finally {
        ui.line("");
      }
    },
  };
}
