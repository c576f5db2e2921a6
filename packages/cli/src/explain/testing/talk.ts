import type { ConversationLine } from "@slipway/protocol/director/conversation-line";

export const DB = "db/6f1c2a3b-0000-4000-8000-000000000000";
const AGENT = "agent:4b0f9d3e-0000-4000-8000-000000000000";
const NETWORKS = { default: { type: "manual", ip: "127.160.0.2" } };

const cpi = (
  at: number,
  ms: number,
  message: string,
  more: Partial<ConversationLine> = {},
): ConversationLine => ({
  at: 1_700_000_000_000 + at,
  ms,
  to: "cpi:",
  instance: DB,
  message,
  api_version: 2,
  stemcell_api_version: 3,
  request: [],
  ...more,
});
const agent = (
  at: number,
  ms: number,
  message: string,
  request: readonly unknown[],
  more = {},
): ConversationLine => ({
  at: 1_700_000_000_000 + at,
  ms,
  to: AGENT,
  instance: DB,
  message,
  request,
  ...more,
});

/** A first deploy, in the order in which its calls ended. */
export const DEPLOY: readonly ConversationLine[] = [
  {
    at: 1_700_000_000_010,
    ms: 5,
    to: "cpi:",
    message: "info",
    request: [],
    answer: { api_version: 3, stemcell_formats: ["slipway-tar", "general-tar"] },
  },
  cpi(20, 412, "create_vm", {
    request: ["agent-1", "img-1", { type: "<redacted>" }, NETWORKS, [], { bosh: { mbus: {}, group: "db" } }],
    answer: ["vm-1", NETWORKS],
  }),
  agent(440, 300, "ping", [], { polls: 3 }),
  cpi(750, 50, "create_disk", { request: [1024, {}, "vm-1"], answer: "disk-1" }),
  cpi(810, 40, "attach_disk", { request: ["vm-1", "disk-1"], answer: { path: "/dev/sdc" } }),
  agent(860, 10, "add_persistent_disk", ["disk-1", { path: "/dev/sdc" }], { polls: 1 }),
  agent(870, 100, "mount_disk", ["disk-1"], { polls: 2 }),
  { at: 1_700_000_000_000, ms: 1000, to: "director", message: "update_deployment", request: [] },
];

export const textOf = (lines: readonly ConversationLine[]): string =>
  lines.map((line) => `${JSON.stringify(line)}\n`).join("");
