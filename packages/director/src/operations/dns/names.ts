import type { DnsPublisher } from "@slipway/engine/steps/context";
import { dnsVersionOf } from "../../store/dns.ts";
import type { TaskContext } from "../../tasks/task.ts";
import type { OperationContext } from "../operation.ts";
import { renewedDns } from "./records.ts";
import { type Telling, tellAgents, tellBehind } from "./tell.ts";

/** The names that a task changes and tells of. Undefined where instances have none. */
export function namesOf(tools: OperationContext, task: TaskContext): DnsPublisher | undefined {
  const { dns, db, clock, agents } = tools;
  if (dns?.enabled !== true) return undefined;
  const telling: Telling = {
    agents,
    db,
    clock,
    signal: task.signal,
    write: (work) => task.write(work),
    debug: (line) => task.debug(line),
  };
  return {
    sync: async (agent, address) => {
      if ((await dnsVersionOf(db, address.agentId)) > 0) return;
      const { now, moved } = await task.write((tx) => renewedDns(tx, dns));
      await tellAgents([address], now, { ...telling, agents: { agent: () => agent } });
      if (moved) await tellBehind(now, telling);
    },
    publish: async () => {
      const { now } = await task.write((tx) => renewedDns(tx, dns));
      await tellBehind(now, telling);
    },
  };
}
