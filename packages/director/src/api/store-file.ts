import {
  AgentRefused,
  AgentSilent,
  AgentUnaware,
  type StoreFiles,
  WrongAgent,
} from "@slipway/engine/agents/agent";
import { slug } from "@slipway/engine/model/names";
import { activeDisk, activeVm, type InstanceRecord } from "@slipway/engine/model/records";
import { DeadlineExceeded, withDeadline } from "@slipway/kernel/deadline";
import { messageTrail } from "@slipway/kernel/errors";
import { storePath } from "@slipway/protocol/agent/store-file";
import type { storeFileQuery } from "@slipway/protocol/director/instance";
import { type Call, checked, param, queryString } from "./call.ts";
import { deploymentOf, instanceOf } from "./lookup.ts";
import {
  AgentRefusedFile,
  AgentSilentOnFile,
  AgentWithoutFiles,
  InstanceWithoutDisk,
  InstanceWithoutVm,
  ParameterMissing,
} from "./refusals.ts";
import type { Services } from "./services.ts";

/** An agent that mounts or copies a disk answers after that. */
const WITHIN_MS = 60_000;

/** A file on the persistent disk of an instance, and the way to it. */
export interface StoreFile {
  readonly deployment: string;
  readonly instance: InstanceRecord;
  readonly path: string;
  /** Asks the agent of the instance; failures are reported as API errors. */
  ask<T>(work: (agent: StoreFiles, signal: AbortSignal) => Promise<T>): Promise<T>;
}

/** Finds the file that the path and query name. Refuses an instance without VM or disk before asking its agent. */
export async function storeFileOf(
  call: Call<{ query: typeof storeFileQuery }>,
  { db, agents, clock }: Services,
): Promise<StoreFile> {
  const path = queryString(call.query, "path");
  if (path === undefined) throw ParameterMissing({ where: "query", name: "path" });
  checked(storePath, path, "path");
  const { name: deployment } = await deploymentOf(db, param(call, "deployment"));
  const instance = await instanceOf(db, deployment, param(call, "group"), param(call, "index"));
  const vm = activeVm(instance);
  const who = slug(instance);
  if (vm === undefined) throw InstanceWithoutVm({ instance: who });
  if (activeDisk(instance) === undefined) throw InstanceWithoutDisk({ instance: who });
  return {
    deployment,
    instance,
    path,
    ask: async (work) => {
      try {
        return await withDeadline(`asking ${who}`, WITHIN_MS, clock, undefined, (signal) =>
          work(agents.agent(vm), signal),
        );
      } catch (error) {
        throw refusalOf(error, who);
      }
    },
  };
}

function refusalOf(error: unknown, who: string): unknown {
  if (error instanceof AgentUnaware) return AgentWithoutFiles({ instance: who }, { cause: error });
  if (error instanceof AgentRefused || error instanceof WrongAgent)
    return AgentRefusedFile({ instance: who, why: error.message }, { cause: error });
  if (error instanceof AgentSilent || DeadlineExceeded.is(error))
    return AgentSilentOnFile({ instance: who, why: messageTrail(error) }, { cause: error });
  return error;
}
