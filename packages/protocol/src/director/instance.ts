import * as v from "valibot";
import { json, mapOf, open } from "../schema/json.ts";
import { doc, hidden } from "../schema/marks.ts";

const text = v.nullish(v.string());
const number = v.nullish(v.number());

/** Disks of a VM, without the secrets that hints may hold. */
export const shownDisks = open({
  system: v.optional(json()),
  ephemeral: v.optional(json()),
  persistent: v.optional(doc(mapOf(json()), "hints by disk cid")),
  raw_ephemeral: v.optional(json()),
});

/** Our additions to upstream's keys: the versions agreed on for a VM, the source of its settings, and its disks. */
export const agreed = open({
  cpi: text,
  cpi_api_version: doc(v.number(), "the CPI API version agreed on"),
  stemcell_api_version: v.number(),
  channel: v.nullish(doc(v.string(), "how the agent got its settings: `user-data` or `registry`")),
  disks: v.nullish(shownDisks),
  agent_url: text,
});

const common = {
  agent_id: text,
  cid: v.nullish(doc(v.string(), "of the VM")),
  job: doc(v.string(), "the instance group"),
  index: v.number(),
  id: v.string(),
  az: text,
  ips: v.nullish(v.array(v.string())),
  vm_created_at: v.nullish(doc(v.string(), "`2025-11-15T19:00:00Z`")),
};

/** `GET /deployments/:deployment/instances`: as recorded. */
export const instance = open({
  ...common,
  expects_vm: v.nullish(v.boolean()),
  errand: v.optional(doc(v.boolean(), "ours: it belongs to an errand, and has a VM only while that runs")),
  slipway: v.optional(doc(agreed, "ours, of those with a VM")),
});

/** `GET /deployments/:deployment/jobs/:group/:index` */
export const jobInstance = open({
  deployment: v.string(),
  job: v.string(),
  index: number,
  id: v.string(),
  state: doc(v.string(), "`started`, `stopped` or `detached`, as wanted"),
  disks: doc(v.array(v.string()), "cids of its persistent disks"),
});

const stemcell = open({ name: text, version: text, api_version: number });

/** `GET /deployments/:deployment/vms`: as recorded, one per VM. */
export const vm = open({
  ...common,
  active: v.nullish(v.boolean()),
  permanent_nats_credentials: v.nullish(v.boolean()),
  stemcell: v.nullish(stemcell),
  slipway: v.nullish(doc(agreed, "ours")),
});
export type Vm = v.InferOutput<typeof vm>;

export const formatQuery = open({
  format: v.optional(doc(v.string(), "`full`: a task asks the agents; its result has one line for each")),
});

const share = v.nullish(open({ kb: text, percent: text }));
const diskUse = v.nullish(open({ percent: text, inode_percent: text }));

const processState = open({
  name: v.string(),
  state: v.string(),
  uptime: v.nullish(open({ secs: number })),
  mem: v.nullish(open({ kb: number, percent: number })),
  cpu: v.nullish(open({ total: number })),
});
export type ProcessState = v.InferOutput<typeof processState>;

/** A line of the result of a task that asked the agents, with `format=full`. */
export const instanceState = open({
  vm_cid: text,
  active: v.nullish(v.boolean()),
  vm_created_at: text,
  cloud_properties: v.nullish(hidden(json())),
  disk_cid: v.nullish(doc(v.string(), "the first of `disk_cids`")),
  disk_cids: v.nullish(v.array(v.string())),
  ips: v.nullish(v.array(v.string())),
  agent_id: text,
  job_name: v.nullish(doc(v.string(), "the instance group")),
  index: number,
  job_state: v.nullish(doc(v.string(), "what the agent says of all processes; `unresponsive agent`")),
  state: v.nullish(doc(v.string(), "desired: `started`, `stopped` or `detached`")),
  vm_type: text,
  resource_pool: v.optional(v.nullable(doc(v.string(), "of older Directors, in place of `vm_type`"))),
  az: text,
  id: text,
  bootstrap: v.nullish(v.boolean()),
  ignore: v.nullish(v.boolean()),
  errand: v.optional(doc(v.boolean(), "ours: it belongs to an errand, and has a VM only while that runs")),
  vitals: v.nullish(
    open({
      cpu: v.nullish(open({ total: number, sys: text, user: text, wait: text })),
      mem: share,
      swap: share,
      load: v.nullish(v.array(v.string())),
      uptime: v.nullish(open({ secs: number })),
      disk: v.nullish(open({ system: diskUse, ephemeral: diskUse, persistent: diskUse })),
    }),
  ),
  processes: v.nullish(v.array(processState)),
  stemcell: v.nullish(stemcell),
  slipway: v.optional(doc(agreed, "ours, of those with a VM")),
});
export type InstanceState = v.InferOutput<typeof instanceState>;

/** `GET /orphaned_vms`: what create-swap-delete has left to be deleted. */
export const orphanedVm = open({
  az: text,
  cid: v.string(),
  deployment_name: text,
  instance_name: text,
  ip_addresses: v.nullish(v.array(v.string())),
  orphaned_at: text,
});

/** `PUT .../ignore`. */
export const ignoreChange = open({ ignore: v.boolean() });

const flag = (about: string) => v.optional(doc(v.string(), `\`true\`: ${about}`));

/** `POST .../actions/:action`: one instance, as it is. */
export const actionQuery = open({
  hard: flag("of `stop`: the VM is deleted, its disk kept"),
  skip_drain: flag("without drain scripts"),
  ignore_unresponsive_agent: flag("of `recreate`: also without an answer of the agent"),
});

/** `.../store`, ours: a small text file on the persistent disk of an instance. */
export const storeFileQuery = open({ path: doc(v.string(), "relative to the disk") });
