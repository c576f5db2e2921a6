/** Alert as upstream's health monitor passes it to its plugins. */
export interface Alert {
  readonly kind: "alert";
  readonly id: string;
  /** 1 alert, 2 critical, 3 error, 4 warning. */
  readonly severity: number;
  /** Null: an agent said it. */
  readonly category: "vm_health" | "deployment_health" | null;
  readonly title: string;
  readonly summary: string;
  /** `shop: web/6f1c... (0)`, or who watches. */
  readonly source: string;
  readonly deployment: string;
  /** Seconds since 1970. */
  readonly created_at: number;
}

/** Receiver of alerts. Its errors are noted, and delay no other sink. */
export interface AlertSink {
  readonly name: string;
  send(alert: Alert, signal: AbortSignal): Promise<void>;
}
