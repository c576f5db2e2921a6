import type { AgentClient } from "./client.ts";

/** What a check must be given beyond the endpoint. */
export type Need = "base-dir" | "disks" | "nats" | "jobs" | "restart" | "machine";

export interface TestDisk {
  readonly cid: string;
  readonly hint: unknown;
}

export interface CheckContext {
  readonly agent: AgentClient;
  /** The agent's `/var/vcap`, when it can be read from here. */
  readonly baseDir: string | undefined;
  /** Two attached, empty disks nobody needs. */
  readonly disks: readonly [TestDisk, TestDisk] | undefined;
  /** A network of the agent's settings. */
  readonly network: string;
  readonly uuid: () => string;
}

export interface Check {
  /** Number in the list of black-box checks of the agent protocol. */
  readonly number: number;
  readonly name: string;
  readonly needs?: readonly Need[];
  readonly run?: (context: CheckContext) => Promise<void>;
}

export type Outcome =
  | { readonly check: Check; readonly result: "passed" }
  | { readonly check: Check; readonly result: "failed"; readonly why: string }
  | { readonly check: Check; readonly result: "not run"; readonly why: string };

export function expectEqual(got: unknown, wanted: unknown, what: string): void {
  if (JSON.stringify(got) === JSON.stringify(wanted)) return;
  throw new Error(`${what}: got ${JSON.stringify(got)}, expected ${JSON.stringify(wanted)}`);
}

export function expectIncludes(text: string, part: string): void {
  if (!text.includes(part)) throw new Error(`got "${text}", which does not contain "${part}"`);
}

export function expectTrue(condition: boolean, otherwise: string): void {
  if (!condition) throw new Error(otherwise);
}
