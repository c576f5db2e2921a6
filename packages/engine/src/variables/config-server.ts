import type { Variable } from "./resolve.ts";

/** `no-overwrite`: what is there stays. `converge`: it stays while it is what its definition says. */
export type GenerationMode = "no-overwrite" | "overwrite" | "converge";

export const GENERATION_MODES: readonly GenerationMode[] = ["no-overwrite", "overwrite", "converge"];

export interface GenerationRequest {
  /** Absolute name. */
  readonly name: string;
  readonly type: string;
  readonly options: Readonly<Record<string, unknown>>;
  readonly mode: GenerationMode;
  /** The same for the same wish: asked again after a crash, nothing is generated twice. */
  readonly requestId: string;
}

/** Stores variables by name and generates new ones: the Director itself, or another program. */
export interface ConfigServer {
  /** Returns the newest version. Throws `VariableMissing` if there is no version. */
  newest(name: string, signal?: AbortSignal): Promise<Variable>;
  /** One version. `name` is for messages. */
  byId(id: string, name: string, signal?: AbortSignal): Promise<Variable>;
  /** The id of the version that is current afterwards. */
  generate(wanted: GenerationRequest, signal?: AbortSignal): Promise<string>;
}
