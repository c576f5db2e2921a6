import { disk } from "@slipway/testkit/vm-record";
import { describe, expect, it } from "vitest";
import { CpiRefused } from "../clouds/cloud.ts";
import type { JournalEntry } from "../journal/journal.ts";
import type { InstanceUuid } from "../model/names.ts";
import type { InstanceRecord } from "../model/records.ts";
import type { FlowContext } from "../steps/context.ts";
import type { StepName } from "../steps/steps.ts";
import { type InstanceRun, runSteps } from "./run-steps.ts";

const refusal = new CpiRefused({
  method: "update_disk",
  type: "Bosh::Clouds::CloudError",
  errorName: undefined,
  message: "no room for it",
  okToRetry: false,
});

/** Takes the step on an instance with two named disks, each to become larger. */
async function take(step: StepName, cloud: object) {
  const entries: JournalEntry[] = [];
  const instance = {
    uuid: "u",
    group: "db",
    index: 0,
    vms: [],
    ips: [],
    disks: ["a", "b"].map((name, id) => ({ id, name, attachedTo: null, ...disk(`disk-${name}`) })),
  } as unknown as InstanceRecord;
  const wanted = (name: string) => ({ name, size: 4096, cloudProperties: { type: "gp3" } });
  const context = {
    journal: {
      taskId: 1,
      newNumber: () => entries.length + 1,
      commit: (entry: JournalEntry) => Promise.resolve(void entries.push(entry)),
      instance: () => Promise.resolve(instance),
    },
    deployment: "shop",
    random: { hex: () => "00" },
    signal: new AbortController().signal,
    debug: () => undefined,
    cpiLog: () => undefined,
    clouds: { cloud: () => cloud },
  } as unknown as FlowContext;
  const goal = {
    desired: { namedDisks: [wanted("a"), wanted("b")] },
    named: { renewed: [], changed: ["a", "b"] },
    changes: [],
  };
  const run = { uuid: "u" as InstanceUuid, goal, watchMs: null } as unknown as InstanceRun;
  const failure = await runSteps([step], run, context).catch((error: unknown) => error as Error);
  const closed = entries.filter(({ close }) => close !== undefined);
  const after = entries.findLast((entry) => entry.instance !== undefined)?.instance?.after;
  return { failure, closed: closed.length, disks: after?.disks.map(({ cid, size }) => `${cid} ${size}`) };
}

describe("a step that changes several named disks", () => {
  it("records the disks that the CPI has updated before it refuses one, and fails", async () => {
    const updateDisk = (cid: string) =>
      cid === "disk-a" ? Promise.resolve("disk-a-of-4096") : Promise.reject(refusal);
    const { failure, closed, disks } = await take("update_named_disks", { updateDisk });
    expect((failure as Error).cause).toBe(refusal);
    expect({ closed, disks }).toEqual({ closed: 1, disks: ["disk-a-of-4096 4096", "disk-b 1024"] });
  });

  it("records the disks that the CPI has resized before it refuses one, and fails", async () => {
    const resizeDisk = (cid: string) =>
      cid === "disk-a" ? Promise.resolve(undefined) : Promise.reject(refusal);
    const { failure, closed, disks } = await take("resize_named_disks", { resizeDisk });
    expect((failure as Error).cause).toBe(refusal);
    expect({ closed, disks }).toEqual({ closed: 1, disks: ["disk-a 4096", "disk-b 1024"] });
  });

  it("records nothing when the CPI refuses the first one", async () => {
    const { failure, closed, disks } = await take("update_named_disks", {
      updateDisk: () => Promise.reject(refusal),
    });
    expect((failure as Error).cause).toBe(refusal);
    expect({ closed, disks }).toEqual({ closed: 1, disks: undefined });
  });
});
