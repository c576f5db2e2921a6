import type * as v from "valibot";
import type { Camel } from "../cpi/method.ts";
import type { Schema } from "../schema/marks.ts";

/** An argument of an agent message. Position counts; names are ours. */
export interface MessageArgument<
  N extends string = string,
  S extends Schema = Schema,
  O extends boolean = boolean,
> {
  readonly name: N;
  readonly schema: S;
  readonly doc: string;
  /** May be left out at the end. */
  readonly optional: O;
}

/** `answer`: at once. `task`: the reply names a task to poll. `by-protocol`: at once below protocol 3, else a task. */
export type Mode = "answer" | "task" | "by-protocol";

export interface Message<
  N extends string = string,
  A extends readonly MessageArgument[] = readonly MessageArgument[],
  R extends Schema = Schema,
> {
  readonly name: N;
  readonly summary: string;
  readonly args: A;
  readonly mode: Mode;
  readonly result: R;
  /** Recorded before it starts and answered under its old id after a restart of the agent. */
  readonly persistent?: boolean;
  readonly cancellable?: boolean;
  /** Payload must not be logged, even redacted. */
  readonly unlogged?: boolean;
  /** True if upstream's agent has the message today; the others come from older agents, from drafts, or are ours. */
  readonly upstream: boolean;
}

export const messageArg = <const N extends string, const S extends Schema>(
  name: N,
  schema: S,
  doc: string,
): MessageArgument<N, S, false> => ({ name, schema, doc, optional: false });

export const optionalArg = <const N extends string, const S extends Schema>(
  name: N,
  schema: S,
  doc: string,
): MessageArgument<N, S, true> => ({ name, schema, doc, optional: true });

export const message = <
  const N extends string,
  const A extends readonly MessageArgument[],
  const R extends Schema,
>(
  definition: Message<N, A, R>,
): Message<N, A, R> => definition;

/** The arguments by name, as an action receives them. */
export type MessageArgs<M extends Message> = {
  readonly [K in M["args"][number] as K["optional"] extends false ? Camel<K["name"]> : never]: v.InferOutput<
    K["schema"]
  >;
} & {
  readonly [K in M["args"][number] as K["optional"] extends false ? never : Camel<K["name"]>]?:
    | v.InferOutput<K["schema"]>
    | undefined;
};

export type MessageResult<M extends Message> = v.InferInput<M["result"]>;
