import type { InstanceUuid } from "../../model/names.ts";
import { defineStep } from "../step.ts";

/** The record goes last, when it has neither VM nor disk. */
export const deleteInstance = defineStep<{ readonly instance: InstanceUuid }, void>({
  name: "delete_instance",
  inward: true,
  intent: ({ instance }) => ({ instance: instance.uuid }),
  run: () => Promise.resolve(),
  record: ({ instance }, _, writes) => writes.removeInstance(instance),
});
