import type { InstanceUuid } from "../../model/names.ts";
import type { AppliedSpec, InstanceState } from "../../model/records.ts";
import { appliedSpec } from "../spec.ts";
import { defineStep } from "../step.ts";

interface Save {
  readonly instance: InstanceUuid;
  readonly state: InstanceState;
  readonly az: string | null;
  readonly bootstrap: boolean;
  readonly spec: AppliedSpec;
  readonly keepIps: readonly string[];
}

/** The instance has reached its plan. */
export const saveInstance = defineStep<Save, void>({
  name: "save_instance",
  inward: true,
  intent: ({ instance, plan: { desired } }) => {
    if (desired === undefined) return undefined;
    return {
      instance: instance.uuid,
      state: desired.state,
      az: desired.az,
      bootstrap: desired.bootstrap,
      spec: appliedSpec(desired),
      keepIps: desired.ips.map(({ address }) => address),
    };
  },
  run: () => Promise.resolve(),
  record: ({ instance, ...change }, _, writes) =>
    writes.updateInstance(instance, { ...change, updateCompleted: true }),
});
