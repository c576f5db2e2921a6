import type { TaskEvent } from "@slipway/protocol/director/task-event";
import type { ProgressOfTask } from "./model.ts";

/** Reads the event output of a task as it grows, and knows where the task is. */
export class TaskProgress {
  /** How much of the output was read: whole lines. */
  bytes = 0;
  #stage: { readonly name: string; total: number; readonly done: Set<string> } | undefined;
  readonly #steps = new Map<string, string>();

  /** Adds whole lines of the output. An unfinished line is read again when it is complete. */
  add(text: string): void {
    const whole = text.slice(0, text.lastIndexOf("\n") + 1);
    this.bytes += Buffer.byteLength(whole);
    for (const line of whole.split("\n")) this.#line(line);
  }

  get now(): ProgressOfTask | undefined {
    const stage = this.#stage;
    if (stage === undefined) return undefined;
    return {
      stage: stage.name,
      done: stage.done.size,
      total: stage.total,
      steps: [...this.#steps.values()],
    };
  }

  #line(line: string): void {
    const event = parsed(line);
    if (typeof event?.stage !== "string") return;
    const { tags, task, state, index, total } = event;
    const name = [event.stage, ...(tags ?? [])].join(" ");
    if (this.#stage?.name !== name) this.#stage = { name, total: 0, done: new Set() };
    const stage = this.#stage;
    stage.total = Math.max(stage.total, total ?? 0);
    const key = `${name}\n${index ?? ""}\n${task ?? ""}`;
    if (state === "finished" || state === "failed") {
      this.#steps.delete(key);
      stage.done.add(key);
    } else this.#steps.set(key, task ?? "");
  }
}

/** Parses an event; undefined for any other line. */
function parsed(line: string): TaskEvent | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as TaskEvent) : undefined;
  } catch {
    return undefined;
  }
}
