import type { ReadStream } from "node:fs";
import type { OutputType } from "@slipway/protocol/director/task";
import type * as v from "valibot";

/** A request to the Director. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "DELETE";
  /** `/deployments/shop`, its pieces already escaped. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | ReadStream | undefined;
  readonly contentType?: string | undefined;
  /** Sent also after Ctrl-C: what puts things in order again. */
  readonly last?: boolean | undefined;
}

export interface RawReply {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly text: string;
}

export interface TaskOutcome {
  readonly id: number;
  readonly state: string;
  readonly result: string;
}

/** How the CLI talks to a Director: upstream's API, over TLS, checked against its authority. */
export interface DirectorApi {
  /** `https://127.0.0.1:25555` */
  readonly url: string;
  /** Name of the user; undefined before log-in. */
  readonly user: string | undefined;
  /** A document, checked. A refusal is `DirectorRefused` with the Director's own words, code and status. */
  json<const S extends v.GenericSchema>(request: ApiRequest, schema: S): Promise<v.InferOutput<S>>;
  /** Returns the body of the reply unchanged. */
  text(request: ApiRequest): Promise<string>;
  /** Sends a request with additional headers and returns the whole reply. A refusal is `DirectorRefused` as well. */
  raw(request: ApiRequest & { readonly headers: Readonly<Record<string, string>> }): Promise<RawReply>;
  /** A document of any size, as it comes, to who takes it. */
  download<T>(request: ApiRequest, take: (content: AsyncIterable<Uint8Array>) => Promise<T>): Promise<T>;
  /** Starts a task: its number. */
  begin(request: ApiRequest): Promise<number>;
  /**
   * Follows a task to its end and prints its events as they come (upstream's rendering). Ctrl-C stops following, not the task.
   * An end that is not `done` is `TaskFailed`.
   */
  follow(task: number, options?: FollowOptions): Promise<TaskOutcome>;
  /** The task's whole output of one type. */
  output(task: number, type: OutputType): Promise<string>;
}

export interface FollowOptions {
  /** Nothing is printed: for commands that only want the result. */
  readonly quiet?: boolean;
  /** Receives each line of the event output, which is then not printed. */
  readonly onEvent?: (line: string) => void;
  /** One of its outputs as it grows, as it is, in place of its events. */
  readonly raw?: {
    readonly type: Exclude<OutputType, "conversation">;
    readonly print: (text: string) => void;
  };
}
