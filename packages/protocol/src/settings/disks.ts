import * as v from "valibot";
import { mapOf, open } from "../schema/json.ts";
import { doc } from "../schema/marks.ts";
import { type DiskHintWire, diskHintWire } from "./disk-hint.ts";

const rawEphemeral = open({ path: v.nullish(v.string()), id: v.nullish(v.string()) });

export interface Disks {
  readonly system?: string;
  readonly ephemeral?: DiskHintWire | null;
  readonly persistent?: Readonly<Record<string, DiskHintWire>>;
  readonly raw_ephemeral?: readonly { readonly path?: string; readonly id?: string }[];
}

/**
 * The disks of a VM as its agent must know them. `system` is a string: upstream agents cannot decode an object. Null
 * stands for a missing field, as CPIs in Go write it; `checkWithoutNulls` leaves such fields out.
 */
export const disks: v.GenericSchema<Disks> = open({
  system: v.nullish(doc(v.string(), "device of the root disk")),
  ephemeral: v.nullish(
    doc(v.union([v.literal(""), diskHintWire]), "hint of the ephemeral disk; empty: part of the root disk"),
  ),
  persistent: v.nullish(doc(mapOf(diskHintWire), "disk cid to hint")),
  raw_ephemeral: v.nullish(v.array(rawEphemeral)),
}) as unknown as v.GenericSchema<Disks>;

export const DISKS_KEYS: readonly string[] = ["system", "ephemeral", "persistent", "raw_ephemeral"];
