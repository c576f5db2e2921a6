import type { Writes } from "../journal/writes.ts";
import { recordStep } from "./define.ts";
import { appliedSpec } from "./spec.ts";

type Change = Parameters<Writes["updateInstance"]>[0];

/** The instance has reached its plan. */
export const saveInstance = recordStep<Change>({
  name: "save_instance",
  subject: "instance",
  calls: [],
  intent: ({ goal: { desired } }) =>
    desired && {
      state: desired.state,
      az: desired.az,
      bootstrap: desired.bootstrap,
      spec: appliedSpec(desired),
      keepIps: desired.ips.map(({ address }) => address),
    },
  record: (change, writes) => writes.updateInstance({ ...change, updateCompleted: true }),
});
