import type { InstanceState, ProcessState } from "@slipway/protocol/director/instance";
import { timeText } from "../ui/time-text.ts";
import type { Paint, Table } from "../ui/ui.ts";
import { yamlText } from "../ui/yaml-text.ts";
import { cpuText, diskText, percentText, processShareText, shareText, uptimeText } from "./values.ts";
import { isRunning, processState } from "./vm-info.ts";

/** Options of the table: its content and columns. */
export interface Shown {
  readonly content: "instances" | "vms";
  readonly details: boolean;
  readonly vitals: boolean;
  readonly processes: boolean;
  readonly failing: boolean;
  readonly cloudProperties: boolean;
}

interface Column {
  readonly key: string;
  readonly title: string;
  readonly vm: (info: InstanceState, deployment: string, paint: Paint) => string;
  readonly process?: (one: ProcessState, paint: Paint) => string;
}

const nothing = (value: string | null | undefined) => value ?? "";
const state = (text: string, ok: boolean, paint: Paint) => (ok || text === "" ? text : paint.red(text));

const BASE: readonly Column[] = [
  {
    key: "process_state",
    title: "Process State",
    vm: (info, _, paint) => state(processState(info), isRunning(info), paint),
    process: (one, paint) => state(one.state, one.state === "running", paint),
  },
  { key: "az", title: "AZ", vm: ({ az }) => nothing(az) },
  { key: "ips", title: "IPs", vm: ({ ips }) => (ips ?? []).join("\n") },
];

const NAME: Column = { key: "instance", title: "Instance", vm: instanceName };
const PROCESS: Column = { key: "process", title: "Process", vm: () => "", process: ({ name }) => name };
const DEPLOYMENT: Column = { key: "deployment", title: "Deployment", vm: (_, deployment) => deployment };
const VM_CID: Column = { key: "vm_cid", title: "VM CID", vm: (info) => nothing(info.vm_cid) };
const VM_TYPE: Column = {
  key: "vm_type",
  title: "VM Type",
  vm: (info) => info.vm_type || nothing(info.resource_pool),
};

const DETAILS: readonly Column[] = [
  { key: "state", title: "State", vm: (info) => nothing(info.state) },
  VM_CID,
  VM_TYPE,
  { key: "disk_cids", title: "Disk CIDs", vm: (info) => diskCids(info).join("\n") },
  { key: "agent_id", title: "Agent ID", vm: (info) => nothing(info.agent_id) },
  // Upstream shows 0 for a missing index.
  { key: "index", title: "Index", vm: (info) => String(info.index ?? 0), process: () => "" },
  { key: "bootstrap", title: "Bootstrap", vm: (info) => String(info.bootstrap ?? false) },
  { key: "ignore", title: "Ignore", vm: (info) => String(info.ignore ?? false) },
];

const VM_DETAILS: readonly Column[] = [
  VM_CID,
  VM_TYPE,
  {
    key: "active",
    title: "Active",
    vm: ({ active }) => (typeof active === "boolean" ? String(active) : "-"),
  },
  {
    key: "stemcell",
    title: "Stemcell",
    vm: ({ stemcell }) => (stemcell?.name ? `${stemcell.name}/${stemcell.version ?? ""}` : "-"),
  },
];

const CLOUD_PROPERTIES: Column = {
  key: "cloud_properties",
  title: "Cloud Properties",
  vm: ({ cloud_properties }) => yamlText(cloud_properties),
};

const VITALS: readonly Column[] = [
  { key: "vm_created_at", title: "VM Created At", vm: (info) => timeText(info.vm_created_at) },
  {
    key: "uptime",
    title: "Uptime",
    vm: ({ vitals }) => uptimeText(vitals?.uptime?.secs),
    process: ({ uptime }) => uptimeText(uptime?.secs),
  },
  {
    key: "load_1m_5m_15m",
    title: "Load\n(1m, 5m, 15m)",
    vm: ({ vitals }) => (vitals?.load ?? []).join(", "),
  },
  {
    key: "cpu_total",
    title: "CPU\nTotal",
    vm: ({ vitals }) => cpuText(vitals?.cpu?.total),
    process: ({ cpu }) => cpuText(cpu?.total),
  },
  { key: "cpu_user", title: "CPU\nUser", vm: ({ vitals }) => percentText(vitals?.cpu?.user) },
  { key: "cpu_sys", title: "CPU\nSys", vm: ({ vitals }) => percentText(vitals?.cpu?.sys) },
  { key: "cpu_wait", title: "CPU\nWait", vm: ({ vitals }) => percentText(vitals?.cpu?.wait) },
  {
    key: "memory_usage",
    title: "Memory\nUsage",
    vm: ({ vitals }) => shareText(vitals?.mem),
    process: ({ mem }) => processShareText(mem),
  },
  { key: "swap_usage", title: "Swap\nUsage", vm: ({ vitals }) => shareText(vitals?.swap) },
  {
    key: "system_disk_usage",
    title: "System\nDisk Usage",
    vm: ({ vitals }) => diskText(vitals?.disk?.system),
  },
  {
    key: "ephemeral_disk_usage",
    title: "Ephemeral\nDisk Usage",
    vm: ({ vitals }) => diskText(vitals?.disk?.ephemeral),
  },
  {
    key: "persistent_disk_usage",
    title: "Persistent\nDisk Usage",
    vm: ({ vitals }) => diskText(vitals?.disk?.persistent),
  },
];

function columnsOf(shown: Shown): readonly Column[] {
  const vms = shown.content === "vms";
  return [
    NAME,
    ...(shown.processes ? [PROCESS] : []),
    ...BASE,
    ...(vms ? [] : [DEPLOYMENT]),
    ...(vms ? VM_DETAILS : shown.details ? DETAILS : []),
    ...(shown.cloudProperties ? [CLOUD_PROPERTIES] : []),
    ...(shown.vitals ? VITALS : []),
  ];
}

/** Upstream's table of `instances` and `vms`. */
export function instanceTable(
  infos: readonly InstanceState[],
  deployment: string,
  shown: Shown,
  paint: Paint,
): Table {
  const columns = columnsOf(shown);
  const sorted = infos
    .filter((info) => !(shown.failing && isRunning(info)))
    .map((info) => ({ info, name: instanceName(info) }))
    .sort((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0));
  const rows = sorted.flatMap(({ info }) => [
    columns.map(({ vm }) => vm(info, deployment, paint)),
    ...(shown.processes ? processRows(info, columns, shown.failing, paint) : []),
  ]);
  return {
    title: `Deployment '${deployment}'`,
    content: shown.content,
    header: Object.fromEntries(columns.map(({ key, title }) => [key, title])),
    rows,
    count: sorted.length,
  };
}

function processRows(info: InstanceState, columns: readonly Column[], failing: boolean, paint: Paint) {
  return (info.processes ?? [])
    .filter(({ state }) => !(failing && state === "running"))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((one) =>
      columns.map(({ key, process }) =>
        key === NAME.key ? instanceName(info) : (process?.(one, paint) ?? ""),
      ),
    );
}

function instanceName({ job_name, id }: InstanceState): string {
  const name = job_name || "?";
  return id ? `${name}/${id}` : name;
}

const diskCids = ({ disk_cids, disk_cid }: InstanceState): readonly string[] =>
  disk_cids && disk_cids.length > 0 ? disk_cids : disk_cid ? [disk_cid] : [];
