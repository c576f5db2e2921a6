import type { InstanceHealth } from "@slipway/protocol/director/health";
import type { instance } from "@slipway/protocol/director/instance";
import type * as v from "valibot";

type Recorded = v.InferOutput<typeof instance>;

/** An instance as recorded, with what its agent said last. */
export interface ShownInstance {
  readonly id: string;
  readonly group: string;
  readonly index: number;
  readonly az: string;
  readonly ips: readonly string[];
  readonly recorded: Recorded;
  /** Undefined where nobody watches, or the first round has not ended. */
  readonly health: InstanceHealth | undefined;
}

export type InstanceRow =
  | { readonly kind: "heading"; readonly text: string; readonly members: readonly ShownInstance[] }
  | { readonly kind: "instance"; readonly instance: ShownInstance };

export function joined(
  recorded: readonly Recorded[],
  health: readonly InstanceHealth[] = [],
): readonly ShownInstance[] {
  const byId = new Map(health.map((one) => [one.id, one]));
  return recorded.map((one) => ({
    id: one.id,
    group: one.job,
    index: one.index,
    az: one.az ?? "",
    ips: one.ips ?? [],
    recorded: one,
    health: byId.get(one.id),
  }));
}

/** Reports whether an instance has all the words in its name, address, VM or health. */
export function fits(
  { id, group, index, az, ips, recorded, health }: ShownInstance,
  search: string,
): boolean {
  const text = [`${group}/${index}`, `${group}/${id}`, az, ...ips, recorded.cid, health?.health]
    .join(" ")
    .toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

/** Rows of a list: instances by group and zone, each under a heading. */
export function rowsOf(instances: readonly ShownInstance[]): readonly InstanceRow[] {
  const groups = new Map<string, ShownInstance[]>();
  for (const one of instances) {
    const heading = one.az === "" ? one.group : `${one.group} in ${one.az}`;
    const members = groups.get(heading);
    if (members === undefined) groups.set(heading, [one]);
    else members.push(one);
  }
  return [...groups]
    .sort(([a], [b]) => a.localeCompare(b, "en"))
    .flatMap(([text, members]): InstanceRow[] => [
      { kind: "heading", text, members },
      ...members
        .toSorted((a, b) => a.index - b.index)
        .map((instance) => ({ kind: "instance" as const, instance })),
    ]);
}
