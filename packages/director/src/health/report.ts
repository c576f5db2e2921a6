import { check } from "@slipway/protocol/schema/check";
import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { AgentReport, Vitals } from "./model.ts";

const percent = v.optional(open({ percent: v.optional(v.string()) }));
const store = v.optional(
  open({ percent: v.optional(v.string()), read_only: v.optional(v.nullable(v.boolean())) }),
);

/** Fields of an agent's state that the Director reads. Others are left out: health does not depend on them. */
const processes = v.array(open({ name: v.string(), state: v.string() }));
const share = v.optional(v.string());
const vitals = open({
  cpu: v.optional(open({ user: share, sys: share, wait: share })),
  load: v.optional(v.array(v.string())),
  mem: percent,
  swap: percent,
  disk: v.optional(open({ system: percent, ephemeral: percent, persistent: store })),
});

const MOST_PROCESSES = 1_000;
const LONGEST_NAME = 100;

/** Returns the report in the answer to `get_state`, or in a heartbeat. */
export function reportOf(
  jobState: string,
  raw: { readonly processes?: unknown; readonly vitals?: unknown },
  mounted: boolean | undefined,
): AgentReport {
  const said = check(processes, raw.processes ?? [], "processes");
  const figures = check(vitals, raw.vitals ?? {}, "vitals");
  return {
    jobState: jobState.slice(0, LONGEST_NAME),
    processes: said.ok
      ? said.value.slice(0, MOST_PROCESSES).map(({ name, state }) => ({
          name: name.slice(0, LONGEST_NAME),
          state: state.slice(0, LONGEST_NAME),
        }))
      : [],
    mounted,
    readOnly: figures.ok && figures.value.disk?.persistent?.read_only === true,
    vitals: figures.ok ? vitalsOf(figures.value) : { disk: {} },
  };
}

function vitalsOf({ cpu, load, mem, swap, disk = {} }: v.InferOutput<typeof vitals>): Vitals {
  const shares = [cpu?.user, cpu?.sys, cpu?.wait].map(numberOf).filter((one) => one !== undefined);
  return {
    cpu: shares.length === 0 ? undefined : Math.round(shares.reduce((a, b) => a + b) * 10) / 10,
    load: numberOf(load?.[0]),
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
