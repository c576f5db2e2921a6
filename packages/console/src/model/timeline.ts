import { type ConversationLine, conversationLine } from "@slipway/protocol/director/conversation-line";
import { type TaskEvent, taskEvent } from "@slipway/protocol/director/task-event";
import { check } from "@slipway/protocol/schema/check";
import type { Schema } from "@slipway/protocol/schema/marks";
import type * as v from "valibot";
import { durationText } from "./texts.ts";

/** A stage, a step or a call of a task, with the time it took. Times are milliseconds since 1970. */
export interface Span {
  readonly key: string;
  readonly kind: "stage" | "step" | "call";
  readonly name: string;
  readonly began: number;
  /** Undefined while it goes on. */
  readonly ended: number | undefined;
  readonly failed: boolean;
  /** Says what a step does now, or why a step or call has failed. */
  readonly note: string | undefined;
  readonly call?: ConversationLine | undefined;
}

export interface Timeline {
  /** Stages with their steps, and steps with their calls, in the order of a table. */
  readonly spans: readonly Span[];
  /** Warnings, deprecations, and the error that ended the task. */
  readonly messages: readonly { readonly kind: "warning" | "error"; readonly text: string }[];
  /** The first and the last moment that is known. */
  readonly began: number | undefined;
  readonly ended: number | undefined;
  /** How often the task was taken up. More than once after a Director was interrupted. */
  readonly runs: number;
}

/** Parses lines of JSON. Lines that are cut off or of another form are left out. */
export function linesAs<const S extends Schema>(lines: readonly string[], schema: S): v.InferOutput<S>[] {
  return lines.flatMap((line) => {
    if (line.trim() === "") return [];
    try {
      const checked = check(schema, JSON.parse(line));
      return checked.ok ? [checked.value] : [];
    } catch {
      return [];
    }
  });
}

interface Step {
  readonly key: string;
  readonly name: string;
  readonly began: number;
  ended: number | undefined;
  failed: boolean;
  note: string | undefined;
  readonly calls: ConversationLine[];
}

interface Stage {
  readonly key: string;
  readonly name: string;
  readonly steps: Map<string, Step>;
}

/** Builds the timeline of a task from its `event` and `conversation` outputs. */
export function timelineOf(events: readonly string[], conversation: readonly string[]): Timeline {
  const stages = new Map<string, Stage>();
  const messages: Timeline["messages"][number][] = [];
  for (const event of linesAs(events, taskEvent)) {
    const text = event.error?.message ?? event.message;
    if (event.error != null) messages.push({ kind: "error", text: text ?? "unknown error" });
    else if (event.type != null) messages.push({ kind: "warning", text: text ?? "" });
    else if (typeof event.stage === "string") addStep(stages, event);
  }
  const lines = linesAs(conversation, conversationLine);
  const calls = lines.filter(({ to }) => to !== "director").sort((a, b) => a.at - b.at);
  const others = placeCalls([...stages.values()], calls);
  const spans = [...stages.values()].flatMap(spansOf).concat(otherSpans(others));
  const moments = [
    ...spans.flatMap(({ began, ended }) => [began, ended ?? began]),
    ...lines.flatMap(({ at, ms }) => [at, at + ms]),
  ];
  return {
    spans,
    messages,
    began: least(moments),
    ended: most(moments),
    runs: lines.length - calls.length,
  };
}

/** Not by `Math.min(...)`: a task may have more moments than a call takes arguments. */
const least = (values: readonly number[]) =>
  values.reduce<number | undefined>((a, b) => (a === undefined || b < a ? b : a), undefined);
const most = (values: readonly number[]) =>
  values.reduce<number | undefined>((a, b) => (a === undefined || b > a ? b : a), undefined);

function addStep(stages: Map<string, Stage>, event: TaskEvent): void {
  const at = (event.time ?? 0) * 1000;
  const name = [event.stage, ...(event.tags ?? [])].join(" ");
  const stage = stages.get(name) ?? { key: `stage ${stages.size}`, name, steps: new Map<string, Step>() };
  stages.set(name, stage);
  const key = `${event.index ?? ""} ${event.task ?? ""}`;
  let step = stage.steps.get(key);
  // A task that was taken up again begins its steps again.
  if (step === undefined || (event.state === "started" && step.ended === undefined)) {
    step = {
      key: `${stage.key} step ${stage.steps.size}`,
      name: event.task ?? "",
      began: step?.began ?? at,
      ended: undefined,
      failed: false,
      note: step === undefined ? undefined : "begun again",
      calls: step?.calls ?? [],
    };
    stage.steps.set(key, step);
  }
  if (event.state === "in_progress") step.note = event.data?.status ?? step.note;
  if (event.state !== "finished" && event.state !== "failed") return;
  step.ended = at;
  step.failed = event.state === "failed";
  step.note = event.data?.error ?? undefined;
}

/** Events have whole seconds: a step lasts until the end of the second in which it ended. */
const SECOND_MS = 1000;

const UUID_LENGTH = 36;

/** Returns the instance that a step names: `web/<uuid>` of `web/<uuid> (0) (canary)`. */
const instanceIn = (step: string): string | undefined =>
  step.split(" ").find((word) => word.length > UUID_LENGTH + 1 && word.at(-UUID_LENGTH - 1) === "/");

/** Puts each call into the step of its instance at that time. Returns those that belong to no step. */
function placeCalls(stages: readonly Stage[], calls: readonly ConversationLine[]): ConversationLine[] {
  const byInstance = new Map<string, Step[]>();
  for (const step of stages.flatMap(({ steps }) => [...steps.values()])) {
    const instance = instanceIn(step.name);
    if (instance === undefined) continue;
    const steps = byInstance.get(instance);
    if (steps === undefined) byInstance.set(instance, [step]);
    else steps.push(step);
  }
  return calls.filter((call) => {
    const steps = byInstance.get(call.instance ?? "") ?? [];
    const step = steps.findLast(
      ({ began, ended }) => began <= call.at && call.at < (ended ?? Number.POSITIVE_INFINITY) + SECOND_MS,
    );
    step?.calls.push(call);
    return step === undefined;
  });
}

function spansOf(stage: Stage): Span[] {
  const steps = [...stage.steps.values()];
  const began = least(steps.map((step) => step.began)) ?? 0;
  const running = steps.some(({ ended }) => ended === undefined);
  const head: Span = {
    key: stage.key,
    kind: "stage",
    name: stage.name,
    began,
    ended: running ? undefined : most(steps.map(({ ended, calls }) => endOf(ended, calls) ?? began)),
    failed: steps.some(({ failed }) => failed),
    note: countOf(steps),
  };
  return [
    head,
    ...steps.flatMap(({ key, name, began: from, ended, failed, note, calls }): Span[] => [
      { key, kind: "step", name, began: from, ended: endOf(ended, calls), failed, note },
      ...calls.map((call, at) => callSpan(`${key} call ${at}`, call)),
    ]),
  ];
}

/** Events say in which second a step ended, its calls more exactly. */
const endOf = (ended: number | undefined, calls: readonly ConversationLine[]): number | undefined =>
  ended === undefined ? undefined : most([ended, ...calls.map(({ at, ms }) => at + ms)]);

const countOf = (steps: readonly Step[]): string => {
  const done = steps.filter(({ ended }) => ended !== undefined).length;
  return `${done} of ${steps.length}`;
};

const OTHERS = "Calls outside of steps";

function otherSpans(calls: readonly ConversationLine[]): Span[] {
  if (calls.length === 0) return [];
  const spans = calls.map((call, at) => callSpan(`other ${at}`, call));
  return [
    {
      key: "others",
      kind: "stage",
      name: OTHERS,
      began: calls[0]?.at ?? 0,
      ended: most(spans.map(({ ended }) => ended ?? 0)),
      failed: spans.some(({ failed }) => failed),
      note: undefined,
    },
    ...spans,
  ];
}

const callSpan = (key: string, call: ConversationLine): Span => ({
  key,
  kind: "call",
  name: `${call.to.startsWith("cpi:") ? call.to.slice("cpi:".length) || "cpi" : "agent"} ${call.message}`,
  began: call.at,
  ended: call.at + call.ms,
  failed: call.error !== undefined,
  note: call.error,
  call,
});

/** Time that a span took until a moment, for people. Events have whole seconds. */
export function tookText(span: Span, now: number): string {
  const took = (span.ended ?? now) - span.began;
  return span.kind !== "call" && took === 0 ? "under 1 s" : durationText(took);
}

/** Returns the spans as they were at a moment: those that had begun, without what was not known yet. */
export const spansAt = (spans: readonly Span[], moment: number): readonly Span[] =>
  spans
    .filter(({ began }) => began <= moment)
    .map((span) =>
      span.ended !== undefined && span.ended > moment
        ? { ...span, ended: undefined, failed: false, note: undefined }
        : span,
    );

/** Place of a bar between two moments, in percent. A bar is never too short to be seen. */
export function barOf(span: Span, began: number, until: number) {
  const whole = Math.max(1, until - began);
  const left = Math.min(99, Math.max(0, ((span.began - began) / whole) * 100));
  const width = ((Math.max(span.began, span.ended ?? until) - span.began) / whole) * 100;
  return { left, width: Math.min(100 - left, Math.max(0.5, width)) };
}
