import { fakeClock } from "@slipway/testkit/fake-clock";
import { vm } from "@slipway/testkit/vm-record";
import { describe, expect, it } from "vitest";
import { AgentSilent } from "../agents/agent.ts";
import { CpiRefused } from "../clouds/cloud.ts";
import { associateDisks } from "./associate_disks.ts";
import type { FlowContext } from "./context.ts";
import { mountDisk } from "./mount_disk.ts";
import { prepareAgent } from "./prepare_agent.ts";
import { rebootVm } from "./reboot_vm.ts";
import { renewCertificate } from "./renew_certificate.ts";
import type { Step, StepSubject } from "./step.ts";
import { waitForAgent } from "./wait_for_agent.ts";

const WAIT_MS = 600_000;

const DISK = {
  ...{ cid: "disk-1", size: 1, cloudProperties: {}, hint: "/dev/sdb" },
  ...{ active: true, mounted: false, attachedTo: "vm-1" },
};

interface Waiting {
  readonly step?: Step<StepSubject>;
  readonly active?: boolean;
  readonly disk?: object;
}

/** Waits for an agent that does not answer unless `answers` is called, on a cloud that says this of its VM. */
function waiting(cloud: object, { step = waitForAgent, active = false, disk }: Waiting = {}) {
  const clock = fakeClock();
  let answers = () => {};
  const waitUntilReady = ({ withinMs, signal }: { withinMs: number; signal: AbortSignal }) =>
    new Promise<void>((resolve, reject) => {
      answers = resolve;
      signal.addEventListener("abort", () => reject(signal.reason as Error));
      clock.after(withinMs, () => reject(new AgentSilent("nobody takes the connection")));
    });
  const context = {
    clock,
    random: { hex: () => "00" },
    signal: new AbortController().signal,
    settings: { agentWaitMs: WAIT_MS, keepUnreachableVms: false },
    deployment: "shop",
    debug: () => undefined,
    cpiLog: () => undefined,
    agents: {
      agent: () => ({ waitUntilReady, updateSettings: () => Promise.resolve() }),
      renewal: () => Promise.resolve({ settings: {}, certificateUntil: 0 }),
    },
    clouds: {
      cloud: () => ({
        ...{ vmLog: () => Promise.resolve(undefined), rebootVm: () => Promise.resolve() },
        ...cloud,
      }),
    },
  } as unknown as FlowContext;
  const disks = disk === undefined ? [] : [{ id: 2, ...DISK, ...disk }];
  const vms = [{ id: 1, ...vm("vm-1"), active }];
  const instance = { group: "db", uuid: "u", spec: null, disks, vms };
  const goal = { desired: { namedDisks: disks, tags: {} } };
  const begun = step.begin({ instance, goal } as unknown as StepSubject, context);
  if (begun === undefined) throw new Error("bug: there is nothing to wait for");
  let ended: string | undefined;
  void begun.run(context).then(
    () => {
      ended = "ready";
    },
    (error: unknown) => {
      ended = String(error);
    },
  );
  return { clock, answers: () => answers(), ended: () => ended };
}

/** Answers in turn; the last one stays. */
const inTurn = <T>(...answers: readonly T[]) => {
  let at = 0;
  return () => Promise.resolve(answers[Math.min(at++, answers.length - 1)]);
};

describe("a VM whose new agent is awaited", () => {
  it("fails the wait within a minute when the cloud no longer has the VM", async () => {
    const { clock, ended } = waiting({ hasVm: inTurn(true, false) });
    await clock.advance(59_000);
    expect(ended()).toBeUndefined();
    await clock.advance(1_000);
    expect(ended()).toMatch(
      /VM 'vm-1' died while its agent .* after 60 seconds: the cloud does not have the VM/,
    );
    expect(clock.waiting).toBe(1);
  });

  it("fails the wait with the end of the VM's log when the VM is off", async () => {
    const vmLog = inTurn("boots\n", "boots\nno such root\nthe VM is off\n");
    const { clock, ended } = waiting({ hasVm: inTurn(true), vmLog });
    await clock.advance(60_000);
    expect(ended()).toMatch(
      /the VM is off\. The VM's log ends with: boots \| no such root\. The VM is deleted/,
    );
  });

  it.each<[string, object]>([
    ["lacks the VM for a moment only", { hasVm: inTurn(false, true, false, true) }],
    ["shows the VM as off for a moment only", { hasVm: inTurn(true), vmLog: inTurn("the VM is off\n", "") }],
    [
      "refuses to say anything",
      {
        hasVm: () =>
          Promise.reject(
            new CpiRefused({
              method: "has_vm",
              type: "x",
              errorName: undefined,
              message: "no",
              okToRetry: false,
            }),
          ),
      },
    ],
  ])("is waited for to the end when the cloud %s", async (_, cloud) => {
    const { clock, ended } = waiting(cloud);
    await clock.advance(WAIT_MS - 1);
    expect(ended()).toBeUndefined();
    await clock.advance(1);
    expect(ended()).toMatch(/Timed out pinging VM 'vm-1'/);
  });

  it("is not asked about any more once the agent has answered", async () => {
    const { clock, ended, answers } = waiting({ hasVm: inTurn(true) });
    await clock.advance(20_000);
    answers();
    await clock.advance(0);
    expect(ended()).toBe("ready");
    const before = clock.slept.length;
    await clock.advance(100_000);
    expect(clock.slept.length).toBe(before);
  });
});

describe("a VM in use whose agent is awaited", () => {
  it.each<[string, Waiting]>([
    ["it is rebooted", { step: rebootVm, active: true }],
    ["it is given its settings", { step: prepareAgent }],
    ["it is given a new certificate", { step: renewCertificate, active: true }],
    ["a disk is mounted", { step: mountDisk, active: true, disk: {} }],
    ["a named disk is linked", { step: associateDisks, active: true, disk: { name: "a" } }],
  ])("fails the wait with the reason and a way out when the VM dies while %s", async (_, how) => {
    const { clock, ended } = waiting({ hasVm: inTurn(true, false) }, how);
    // What comes before the wait.
    await clock.advance(0);
    await clock.advance(59_000);
    expect(ended()).toBeUndefined();
    await clock.advance(1_000);
    expect(ended()).toMatch(
      /VM 'vm-1' died while its agent .* after 60 seconds: the cloud does not have the VM.*`bosh -d shop cck`/,
    );
  });
});
