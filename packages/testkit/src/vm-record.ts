import type { VmRecord } from "@slipway/engine/model/records";
import type { AgentId, DiskCid, VmCid } from "@slipway/protocol/ids";

export const vmCid = (text: string) => text as VmCid;
export const diskCid = (text: string) => text as DiskCid;

export const vm = (cid: string, more: Partial<VmRecord> = {}): Omit<VmRecord, "id"> => ({
  cid: vmCid(cid),
  agentId: `agent-${cid}` as AgentId,
  active: false,
  cpi: "",
  createdAt: 1_763_000_000_123,
  stemcell: { name: "jammy", version: "1.785", apiVersion: 3 },
  apiVersion: 2,
  channel: "user-data",
  env: { bosh: { group: "web" } },
  cloudProperties: { cpu: 2 },
  networks: { default: { type: "manual", ip: "10.0.0.5" } },
  disks: { system: "/dev/sda", persistent: { "disk-1": { path: "/dev/sdb" } } },
  agentUrl: "https://10.0.0.5:6868",
  certificateUntil: 1_800_000_000_000,
  ready: false,
  ...more,
});

export const disk = (cid: string, active = true) => ({
  cid: diskCid(cid),
  size: 1024,
  cloudProperties: { type: "gp3" },
  cpi: "",
  active,
});
