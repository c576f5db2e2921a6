import type { JsonObject } from "@slipway/protocol/schema/json";

/** An entry of `bosh events`. */
export interface AuditEvent {
  readonly action: string;
  readonly objectType: string;
  /** Null: it has no name yet. */
  readonly objectName: string | null;
  readonly deployment?: string | undefined;
  readonly instance?: string | undefined;
  readonly context?: JsonObject | undefined;
  readonly error?: string | undefined;
  readonly parentId?: number | undefined;
  /** Its parent is the event of the same task that began this. */
  readonly ends?: boolean | undefined;
}
