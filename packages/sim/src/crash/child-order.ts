import type { NewTask } from "@slipway/director/tasks/task";

/** What a child Director is told, as JSON in its first argument. */
export interface ChildOrder {
  readonly connection: object;
  /** Socket of the world. */
  readonly world: string;
  readonly uploadsDir: string;
  /** The point to die at; undefined: none. */
  readonly dieAt?: number | undefined;
  /** Queued one after the other, each when the one before has ended. */
  readonly tasks: readonly NewTask[];
  readonly enableCpiResizeDisk?: boolean | undefined;
}

/** What it prints when it lives to the end. */
export interface ChildReport {
  readonly hits: number;
  readonly names: readonly string[];
  readonly tasks: readonly { readonly id: number; readonly state: string; readonly result: string | null }[];
}
