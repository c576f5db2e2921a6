import type { Exchange } from "../report/receipt.ts";
import type { BusClient, PemPair } from "./bus-client.ts";
import type { AgentClient } from "./client.ts";
import type { AgentControl } from "./control.ts";
import type { Messages } from "./messages.ts";
import type { AgentRuleId } from "./rules.ts";

/** Needs of checks beyond an agent that answers, each with the text that reports it as missing. */
export const NEEDS = {
  https: "needs --mbus",
  nats: "needs --nats",
  "health-monitor": "needs --hm-cert and --hm-key",
  "base-dir": "needs --base-dir",
  disks: "needs two --disk",
  machine: "changes the machine; needs --machine",
  "nats-base-dir": "needs --nats-base-dir",
  "image-disk": "needs --image-disk and --control",
  restart: "no way to restart given; needs --control",
  "next-certificate": "needs --next-cert and --next-key",
  "nats-control": "no way to stop and replace NATS given; needs --control",
  stories: "no way to play a story given; needs --control",
} as const;
export type CheckNeed = keyof typeof NEEDS;

export interface CheckDisk {
  readonly cid: string;
  readonly hint: unknown;
}

export interface CheckContext {
  /** However it is reached; over HTTPS where there is a choice. */
  readonly agent: Messages;
  readonly https: AgentClient | undefined;
  readonly nats: BusClient | undefined;
  /** The agent's `/var/vcap`, when it can be read from here. */
  readonly baseDir: string | undefined;
  /** The same of the agent on the bus. */
  readonly natsBaseDir: string | undefined;
  /** Two attached, empty disks that may be overwritten. */
  readonly disks: readonly [CheckDisk, CheckDisk] | undefined;
  /** An attached disk that the control formats and enlarges while no agent has it. */
  readonly imageDisk: CheckDisk | undefined;
  /** The machine is there to be changed. */
  readonly machine: boolean;
  /** Directory where the agent's machine keeps trusted certificates. */
  readonly certificatesDir: string;
  /** Waits for a second heartbeat, which takes half a minute. */
  readonly heartbeats: boolean;
  /** A network of the agent's settings. */
  readonly network: string;
  /** PEM of some certificate. */
  readonly certificate: string;
  readonly uuid: () => string;
  /** Restarts the agent and its surroundings. */
  readonly control: AgentControl | undefined;
  /** Certificate that may replace the agent's. */
  readonly nextCertificate: PemPair | undefined;
  /** Rules that the agent breaks by decision, and which decision that is. */
  readonly differs: ReadonlyMap<string, string>;
  /** Rules to check; all of them if it is not given. */
  readonly only?: ReadonlySet<string> | undefined;
  /** Why something is not given, if there is more to say than that it is not. */
  readonly absent: Partial<Readonly<Record<CheckNeed, string>>>;
}

export interface Check {
  /** Rule that the check decides. */
  readonly id: AgentRuleId;
  /** Number in the list of black-box checks of the agent protocol. */
  readonly number: number;
  /** Part of a number that has several checks: its half over HTTPS or NATS, or the rest of it. */
  readonly part?: "H" | "N" | "b";
  readonly name: string;
  readonly needs?: readonly CheckNeed[];
  readonly run?: (context: CheckContext) => Promise<void>;
}

export type CheckOutcome = { readonly check: Check; readonly milliseconds: number } & (
  | { readonly result: "passed" }
  | { readonly result: "failed"; readonly why: string; readonly conversation: readonly Exchange[] }
  /** Failed as it was said beforehand. */
  | { readonly result: "differs"; readonly why: string }
  | { readonly result: "not run"; readonly why: string }
);

/** Number and part, as the list shows them. */
export const labelOf = ({ number, part }: Check): string => `${number}${part ?? ""}`;

/** Returns a thing that the needs of the check promise. */
export function given<T>(thing: T | undefined): T {
  if (thing === undefined) throw new Error("bug in the check: it does not say that it needs this");
  return thing;
}
