import { COMMANDS } from "@slipway/cli/commands";
import type { Health, InstanceHealth } from "@slipway/protocol/director/health";
import { describe, expect, it } from "vitest";
import { commandsFor, findingsIn } from "./findings.ts";

const instance = (more: Partial<InstanceHealth> = {}): InstanceHealth => ({
  ...{ deployment: "shop", instance_group: "web", index: 0, id: "id-0" },
  ...{ state: "started", health: "healthy", problems: [] },
  ...more,
});
const fleet = (...instances: InstanceHealth[]): Health => ({
  ...{ enabled: true, at: "2026-01-31T12:00:00Z", interval_s: 30, unresponsive_after_s: 60 },
  ...{ resurrection: { enabled: true, held: null }, upkeep: [], instances },
});

describe("what is wrong now", () => {
  it("is nothing when all are well, stopped on purpose or not yet asked", () => {
    const fine = ["healthy", "detached", "idle", "ignored", "unknown"].map((health) => instance({ health }));
    expect(findingsIn({ health: fleet(...fine) })).toEqual([]);
    expect(findingsIn({})).toEqual([]);
  });

  it("names the instance, why it is not well, and what to type", () => {
    const failing = instance({ health: "failing", problems: ["nginx does not run"] });
    expect(findingsIn({ health: fleet(failing) })).toEqual([
      {
        level: "bad",
        title: "shop: web/0 is failing",
        why: ["nginx does not run"],
        commands: ["slipway -d shop logs web/0", "slipway -d shop restart web/0"],
        href: "#/deployments/shop/instances/id-0",
      },
    ]);
  });

  it("is one line for instances with the same trouble", () => {
    const down = Array.from({ length: 1000 }, (_, index) =>
      instance({ health: "no_vm", index, id: `${index}` }),
    );
    const found = findingsIn({ health: fleet(...down) });
    expect(found.map(({ title }) => title)).toEqual([
      "shop: web/0, web/1, web/2, web/3, web/4 and 995 more are without a VM",
    ]);
  });

  it("leads to the task that puts it right, and asks for no command", () => {
    const healed = instance({ health: "unresponsive", task: 7, action: "task 7 replaces its VM" });
    expect(findingsIn({ health: fleet(healed) })).toMatchObject([
      { level: "busy", commands: [], href: "#/tasks/7", why: ["task 7 replaces its VM"] },
    ]);
  });

  it("has the failed task of a deployment until a later one has succeeded", () => {
    const task = (id: number, state: string) => ({ id, state, deployment: "shop", description: "create" });
    const deployments = [{ name: "shop" }];
    const titles = (...recentTasks: ReturnType<typeof task>[]) =>
      findingsIn({ recentTasks, deployments }).map(({ title }) => title);
    expect(titles(task(2, "error"), task(1, "done"))).toEqual(["shop: task 2, create, failed"]);
    expect(titles(task(2, "done"), task(1, "error"))).toEqual([]);
    expect(titles(task(3, "processing"), task(2, "error"))).toEqual(["shop: task 2, create, failed"]);
    expect(findingsIn({ recentTasks: [task(1, "error")], deployments: [] })).toEqual([]);
  });

  it("begins with the worst", () => {
    const found = findingsIn({
      health: fleet(instance({ health: "unresponsive", task: 7 }), instance({ health: "failing", index: 1 })),
      orphans: [{ disk_cid: "disk-1", deleting_since: "2026-01-31 12:00:00 UTC" }],
    });
    expect(found.map(({ level }) => level)).toEqual(["bad", "warning", "busy"]);
  });

  it("quotes names for a shell", () => {
    expect(commandsFor(instance({ deployment: "a b'c", health: "no_vm" }))).toEqual([
      `slipway -d 'a b'\\''c' cloud-check`,
    ]);
  });
});

describe("every command that the page shows for a state", () => {
  const STATES = ["failing", "unresponsive", "no_vm", "refused", "disk_not_mounted", "disk_read_only"];

  it.each([...STATES, "unfinished", "anything"])("is one of slipway, with its flags: %s", (health) => {
    for (const text of commandsFor(instance({ health }))) {
      const [name, ...rest] = text.replace(/^slipway (-d shop )?/, "").split(" ");
      const command = COMMANDS.find((one) => [one.name, ...(one.aliases ?? [])].includes(name ?? ""));
      expect(command, text).toBeDefined();
      const flags = (command?.options ?? []).map((option) => option.flags).join(" ");
      for (const flag of rest.filter((word) => word.startsWith("-"))) expect(flags).toContain(flag);
    }
  });
});
