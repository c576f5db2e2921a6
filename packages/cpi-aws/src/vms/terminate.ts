import * as v from "valibot";
import { unlessRefused } from "../api/refusals.ts";
import type { AwsCloud } from "../cloud.ts";
import { describeInstance } from "../ec2/instances.ts";
import { SETTLED_WITHIN_MS, waitFor } from "../ec2/wait.ts";

/** Ends an instance and waits: its address and its disks are free only then. */
export async function terminate(cloud: AwsCloud, id: string): Promise<void> {
  const asked = await unlessRefused(
    cloud.ec2.call(v.unknown(), "TerminateInstances", { InstanceId: [id] }).then(() => true),
    "InvalidInstanceID.",
  );
  if (asked === undefined) return;
  let state = "running";
  await waitFor(
    cloud,
    async () => {
      const found = await describeInstance(cloud, id);
      state = found?.instanceState.name ?? "terminated";
      return state === "terminated" ? true : undefined;
    },
    { withinMs: SETTLED_WITHIN_MS, what: `instance ${id}`, wanted: "terminated", is: () => state },
  );
}
