import type { JsonObject } from "@slipway/protocol/schema/json";

/** An entry of `bosh events`. */
export interface AuditEvent {
  readonly action: string;
  readonly objectType: string;
  readonly objectName: string;
  readonly deployment?: string | undefined;
  readonly instance?: string | undefined;
  readonly context?: JsonObject | undefined;
  readonly error?: string | undefined;
  readonly parentId?: number | undefined;
}
