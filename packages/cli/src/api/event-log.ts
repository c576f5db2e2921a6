import type { TaskEvent } from "@slipway/protocol/director/task-event";
import { printable } from "../ui/text.ts";
import { dateText, durationText } from "../ui/time-text.ts";
import { ADVICE } from "./task-failure.ts";

/**
 * Makes of event lines what upstream prints. A step's line stays open, so that its duration or failure can be added
 * when nothing else was printed in between.
 */
export class EventPrinter {
  readonly #task: number;
  readonly #begun = new Map<string, number>();
  #open: string | undefined;
  #first: number | undefined;
  #last: number | undefined;
  #error: string | undefined;
  readonly #failures: string[] = [];

  constructor(task: number) {
    this.#task = task;
  }

  /** Pieces to print; a new line begins with `\n`. */
  add(line: string): readonly string[] {
    const event = parsed(line);
    if (event === undefined) return [];
    const time = typeof event.time === "number" ? event.time : (this.#last ?? 0);
    this.#first ??= time;
    this.#last = time;
    if (event.error) {
      this.#error = words(event.error.message);
      const why = withoutAdvice(this.#error);
      // A step has printed it above: do not repeat it.
      return this.#failures.some((one) => one === why) ? [] : this.#other(time, `Error: ${why}`);
    }
    if (event.type === "deprecation") return this.#other(time, `Deprecation: ${words(event.message)}`);
    if (event.type === "warning") return this.#other(time, `Warning: ${words(event.message)}`);
    return event.stage === undefined ? [] : this.#step(event, time);
  }

  /** Reason of the failure, from the task's error event. */
  get error(): string | undefined {
    return this.#error;
  }

  /** Started, finished, how long; undefined when there was no event. */
  summary(): string | undefined {
    if (this.#first === undefined || this.#last === undefined) return undefined;
    const at = (what: string, value: string) => `Task ${this.#task} ${what.padEnd(8)} ${value}\n`;
    return (
      at("Started", dateText(this.#first)) +
      at("Finished", dateText(this.#last)) +
      at("Duration", durationText(this.#last - this.#first))
    );
  }

  #step(event: TaskEvent, time: number): readonly string[] {
    const { stage = "", tags, task = "", state, data } = event;
    const key = JSON.stringify([stage, tags, task]);
    const same = this.#open === key;
    const name = `${words(stage)}${tags === undefined || tags === null || tags.length === 0 ? "" : ` ${tags.map(words).join(", ")}`}: ${words(task)}`;
    if (state === "started") {
      this.#begun.set(key, time);
      this.#open = key;
      return [this.#prefix(time), name];
    }
    if (state === "in_progress") {
      if (data?.status === undefined || data.status === "") return [];
      this.#open = key;
      const status = [this.#prefix(time), `L ${words(data.status)}: ${words(task)}`];
      return same ? status : [this.#prefix(time), name, ...status];
    }
    if (state !== "finished" && state !== "failed") return [];
    const took = ` (${durationText(time - (this.#begun.get(key) ?? time))})`;
    const line = same ? [took] : [this.#prefix(time), `${name}${took}`];
    this.#open = undefined;
    if (state === "finished") return line;
    // Upstream's: below the bar.
    const indent = " ".repeat(this.#prefix(time).length - "\n| ".length);
    const why = withoutAdvice(words(data?.error));
    this.#failures.push(why);
    return [...line, `\n${indent}L Error: ${why}`];
  }

  #other(time: number, text: string): readonly string[] {
    this.#open = undefined;
    return [this.#prefix(time), text];
  }

  #prefix(time: number): string {
    return `\nTask ${this.#task} | ${new Date(time * 1000).toISOString().slice(11, 19)} | `;
  }
}

/** Cuts off the advice, which is printed once, below everything. */
const withoutAdvice = (text: string): string => text.split(ADVICE)[0] ?? "";

const words = (text: string | null | undefined): string => printable(String(text ?? ""));

/** Parses an event. Skips other lines: what a Director logs must not end the command that watches it. */
function parsed(line: string): TaskEvent | undefined {
  if (line.trim() === "") return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === "object" && value !== null ? (value as TaskEvent) : undefined;
  } catch {
    return undefined;
  }
}
