import type { TransportName } from "@slipway/engine/agents/agent";

/** Orders for the process of the agents, one at a time. */
export type FleetOrder =
  /** The agents `fleet-0` to `fleet-(count - 1)` come up, with certificates of the Director's authority. */
  | {
      readonly kind: "many";
      readonly transport: TransportName;
      readonly count: number;
      readonly stateDir: string;
      /** Port on which they listen, or port of their NATS server. */
      readonly port: number;
      /** Milliseconds between heartbeats. */
      readonly beatMs: number;
    }
  /** The agent of a VM that the Director has just made, with what its env says. */
  | { readonly kind: "one"; readonly agentId: string; readonly ip: string; readonly mbus: MbusEnv }
  | { readonly kind: "end"; readonly agentId: string }
  | { readonly kind: "count" };

export interface MbusEnv {
  readonly urls: readonly string[];
  readonly cert: { readonly ca: string; readonly certificate: string; readonly private_key: string };
}

/** Answer to each order. */
export interface FleetReport {
  /** Number of state requests so far. */
  readonly asked: number;
  readonly error?: string;
}

export const agentIdOf = (nth: number): string => `fleet-${nth}`;
export const diskOf = (agentId: string): string => `disk-of-${agentId}`;

/** All of 127.0.0.0/8 is this machine. Those of new VMs are below 127.100.0.0. */
export const addressOf = (nth: number): string =>
  `127.${100 + (nth >> 16)}.${(nth >> 8) & 0xff}.${nth & 0xff}`;
export const NEW_VMS = "127.99.0.0/24";
