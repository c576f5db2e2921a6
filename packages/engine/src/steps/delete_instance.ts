import { recordStep } from "./define.ts";

/** The record goes last, when it has neither VM nor disk. */
export const deleteInstance = recordStep<true>({
  name: "delete_instance",
  subject: "instance",
  calls: [],
  intent: () => true,
  record: (_, writes) => writes.removeInstance(),
});
