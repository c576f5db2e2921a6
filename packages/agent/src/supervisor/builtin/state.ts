import type { ProcessIdentity } from "@slipway/kernel/process-identity";
import { BadJson, parseStrictJson } from "@slipway/kernel/strict-json";
import * as v from "valibot";
import { readState, type StateTools, writeState } from "../../state/state-file.ts";
import type { WatchedService } from "./watched.ts";

const processId = v.object({ pid: v.number(), started: v.string() });
const remembered = v.object({
  desired: v.picklist(["run", "stop", "none"]),
  process: v.optional(processId),
  busy: v.optional(
    v.object({
      doing: v.picklist(["starting", "stopping"]),
      since: v.number(),
      until: v.number(),
      program: v.optional(processId),
    }),
  ),
});
const document = v.object({
  boot: v.string(),
  namespace: v.string(),
  services: v.record(v.string(), remembered),
});

export type RememberedService = v.InferOutput<typeof remembered>;

/** `supervisor.json`: what is to run and which processes do, for the next process of the agent. */
export interface SupervisorState {
  load(): Promise<
    { readonly services: ReadonlyMap<string, RememberedService>; readonly sameBoot: boolean } | undefined
  >;
  save(services: Iterable<WatchedService>): Promise<void>;
}

export function fileSupervisorState(path: string, self: ProcessIdentity, tools: StateTools): SupervisorState {
  let written = "";
  return {
    load: async () => {
      const found = await readState(path, parse, tools);
      if (found === undefined) return undefined;
      return {
        services: new Map(Object.entries(found.services)),
        // A sandbox that was started again has new processes in the same boot.
        sameBoot: found.boot === self.boot && found.namespace === self.namespace,
      };
    },
    save: async (services) => {
      const entries = [...services].map((one) => [one.service.name, rememberedOf(one)] as const);
      const content = { boot: self.boot, namespace: self.namespace, services: Object.fromEntries(entries) };
      const text = JSON.stringify(content);
      if (text === written) return;
      await writeState(path, text);
      written = text;
    },
  };
}

function rememberedOf({ desired, process, busy }: WatchedService): RememberedService {
  return {
    desired,
    ...(process !== undefined && { process }),
    ...(busy !== undefined && {
      busy: {
        doing: busy.doing,
        since: busy.since,
        until: busy.until,
        ...(busy.program !== undefined && { program: busy.program }),
      },
    }),
  };
}

function parse(text: string): v.InferOutput<typeof document> {
  const checked = v.safeParse(document, parseStrictJson(text, "supervisor.json"));
  if (!checked.success) throw BadJson({ what: "supervisor.json", why: checked.issues[0].message });
  return checked.output;
}
