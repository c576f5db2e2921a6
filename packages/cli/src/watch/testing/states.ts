import type { DirectorState, WatchedInstance, WatchedTask } from "../model.ts";

export const AT = Date.parse("2026-11-17T12:00:00Z");

export const instance = (index: number, more: Partial<WatchedInstance> = {}): WatchedInstance => {
  const id = `6f1c0000-0000-4000-8000-${String(index).padStart(12, "0")}`;
  return {
    key: `shop web/${id}`,
    deployment: "shop",
    group: "web",
    index,
    id,
    az: "z1",
    ips: [`10.0.0.${index}`],
    vm: `vm-${index}`,
    state: "running",
    level: "well",
    since: undefined,
    problems: [],
    action: "",
    processes: [{ name: "nginx", state: "running" }],
    vitals: { cpu: 3, load: 0.25, memory: 21, disk: 7 },
    ...more,
  };
};

export const failing = (index: number): WatchedInstance =>
  instance(index, {
    state: "failing",
    level: "bad",
    since: AT - 90_000,
    problems: ["process nginx is failing"],
    action: "task 9 replaces its VM",
    processes: [{ name: "nginx", state: "failing" }],
  });

export const task = (id: number, more: Partial<WatchedTask> = {}): WatchedTask => ({
  id,
  state: "processing",
  description: "create deployment",
  deployment: "shop",
  user: "admin",
  began: AT - 72_000,
  ended: undefined,
  result: "",
  progress: { stage: "Updating instance web", done: 2, total: 5, steps: ["web/2 (canary)"] },
  ...more,
});

export const seen = (more: Partial<DirectorState> = {}): DirectorState => ({
  at: AT,
  url: "https://10.0.0.1:25555",
  deployment: "shop",
  deployments: ["shop"],
  note: "",
  instances: [instance(0), instance(1)],
  tasks: [],
  events: [],
  trouble: undefined,
  ...more,
});
