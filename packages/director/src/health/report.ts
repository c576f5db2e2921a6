import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { AgentReport, Vitals } from "./model.ts";

const percent = v.optional(open({ percent: v.optional(v.string()) }));

/** As far as it is read. What an agent says otherwise is left out: its health does not depend on it. */
const processes = v.array(open({ name: v.string(), state: v.string() }));
const vitals = open({
  mem: percent,
  swap: percent,
  disk: v.optional(open({ system: percent, ephemeral: percent, persistent: percent })),
});

const MOST_PROCESSES = 1_000;
const LONGEST_NAME = 100;

/** From the answer to `get_state`, or a heartbeat. */
export function reportOf(
  jobState: string,
  raw: { readonly processes?: unknown; readonly vitals?: unknown },
  mounted: boolean | undefined,
): AgentReport {
  const said = check(processes, raw.processes ?? [], "processes");
  return {
    jobState: jobState.slice(0, LONGEST_NAME),
    processes: said.ok
      ? said.value.slice(0, MOST_PROCESSES).map(({ name, state }) => ({
          name: name.slice(0, LONGEST_NAME),
          state: state.slice(0, LONGEST_NAME),
        }))
      : [],
    mounted,
    vitals: vitalsOf(raw.vitals),
  };
}

function vitalsOf(raw: unknown): Vitals {
  const checked = check(vitals, raw ?? {}, "vitals");
  if (!checked.ok) return { disk: {} };
  const { mem, swap, disk = {} } = checked.value;
  return {
    memory: numberOf(mem?.percent),
    swap: numberOf(swap?.percent),
    disk: Object.fromEntries(
      (["system", "ephemeral", "persistent"] as const).flatMap((name) => {
        const value = numberOf(disk[name]?.percent);
        return value === undefined ? [] : [[name, value]];
      }),
    ),
  };
}

const numberOf = (text: string | undefined): number | undefined =>
  text !== undefined && /^\d{1,3}(\.\d{1,3})?$/.test(text) ? Number(text) : undefined;
