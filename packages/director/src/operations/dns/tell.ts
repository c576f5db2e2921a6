import { type Agent, type AgentAddress, type AgentLookup, AgentUnaware } from "@slipway/engine/agents/agent";
import type { Clock } from "@slipway/kernel/clock";
import { DeadlineExceeded, withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import { agentsBehind, type DnsVersion, noteDnsVersion } from "../../store/dns.ts";
import type { Db } from "../../store/schema.ts";
import { inFlight } from "../in-flight.ts";
import { dnsBlob } from "./records.ts";

/** Time that upstream waits for all of them. */
const TELL_MS = 10_000;
const AT_ONCE = 100;

export interface Telling {
  readonly agents: AgentLookup<Pick<Agent, "putBlob" | "syncDns">>;
  /** Database, for reading only. */
  readonly db: Db;
  readonly write: (work: (db: Db) => Promise<void>) => Promise<void>;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly debug: (line: string) => void;
}

/** Sends the records to all agents that have older ones. An agent that does not take them in time gets them another time. */
export async function tellBehind(latest: DnsVersion, telling: Telling): Promise<void> {
  await tellAgents(await agentsBehind(telling.db, latest.version), latest, telling);
}

export async function tellAgents(
  addresses: readonly AgentAddress[],
  latest: DnsVersion,
  { agents, write, clock, signal, debug }: Telling,
): Promise<void> {
  if (addresses.length === 0) return;
  const { bytes, ...blob } = dnsBlob(latest);
  const taken: string[] = [];
  const tellOne = async (address: AgentAddress, within: AbortSignal) => {
    try {
      const agent = agents.agent(address);
      const ask = { signal: within, timeoutMs: TELL_MS };
      await agent.putBlob(blob.blobId, bytes, ask);
      await agent.syncDns(blob, ask);
      taken.push(address.agentId);
    } catch (error) {
      within.throwIfAborted();
      // One that does not know the message will not learn it.
      if (error instanceof AgentUnaware) taken.push(address.agentId);
      debug(`agent ${address.agentId} has not taken the DNS records: ${messageTrail(error)}`);
    }
  };
  try {
    await withDeadline("telling agents of DNS records", TELL_MS, clock, signal, (within) =>
      inFlight(addresses, AT_ONCE, (address) => tellOne(address, within)),
    );
  } catch (error) {
    signal.throwIfAborted();
    if (!DeadlineExceeded.is(error)) throw error;
    debug(`${addresses.length - taken.length} agents did not take the DNS records in time`);
  }
  await write((db) => noteDnsVersion(db, taken, latest.version));
}
