import type { JsonObject } from "@slipway/protocol/schema/json";

/** Rules for templates: a Director's, or those of `create-env`, which has no links and words its errors differently. */
export type Dialect = "director" | "create-env";

export interface Template {
  /** Its path in the job, which errors name. */
  readonly name: string;
  readonly source: Uint8Array;
}

/** The templates of one job for one instance; they see the same context. */
export interface RenderRequest {
  readonly dialect: Dialect;
  readonly context: JsonObject;
  readonly templates: readonly Template[];
}

export interface RenderedText {
  readonly name: string;
  readonly text: Uint8Array;
}

export interface RenderFailure {
  readonly name: string;
  /** Line in the template, if Ruby reported one. */
  readonly line: number | undefined;
  /** Ruby's own words. */
  readonly message: string;
}

export type Rendering = RenderedText | RenderFailure;

export const isFailure = (one: Rendering): one is RenderFailure => "message" in one;

/** Renders the templates of one task. Answers stand in the order of the templates. */
export interface Renderer {
  /**
   * Names the Ruby and its program: with the same name, the same request gives the same texts, but for clocks and random
   * numbers. Undefined: nothing is known, so that everything is rendered.
   */
  identity(): Promise<string | undefined>;
  render(request: RenderRequest, signal: AbortSignal): Promise<readonly Rendering[]>;
  close(): Promise<void>;
}

/** A way to render: the built-in Ruby, or one of the system. */
export interface RenderPool {
  /**
   * Opens a renderer for one task. Templates are code: they can read and change everything in the interpreter that runs
   * them. No interpreter serves two renderers, so that no template reaches the deployment of another task.
   */
  open(): Renderer;
  close(): Promise<void>;
}
