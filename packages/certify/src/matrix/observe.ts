import { parseStrictJson } from "@slipway/kernel/strict-json";
import { parseAttachDiskResult } from "@slipway/protocol/cpi/attach-disk-result";
import { parseCreateVmResult } from "@slipway/protocol/cpi/create-vm-result";
import { type DiskCid, diskCid } from "@slipway/protocol/ids";
import { matches } from "@slipway/protocol/schema/check";
import { type DiskHintWire, formatDiskHint } from "@slipway/protocol/settings/disk-hint";
import { parseUserData } from "@slipway/protocol/settings/user-data";
import { CpiDidNotAnswer, CpiRefused } from "../errors.ts";
import { type CpiExecutable, callCpi } from "../exec-cpi.ts";
import { type ContractRow, rowOf } from "./contract.ts";
import type { MixOf8 } from "./mixes.ts";

/** The live parts a row is played with. */
export interface MatrixParts {
  readonly cpi: CpiExecutable;
  /** Returns what the agent of a VM would find in its user-data. */
  readonly userData: (vmCid: string) => Promise<string>;
  /** Requests the registry answered for one VM so far, such as `PUT`. */
  readonly registryLog: (vmCid: string) => readonly string[];
  readonly registryEntry: (vmCid: string) => Promise<string | undefined>;
  readonly stemcellImage: string;
  readonly uuid: () => string;
}

/** Observations while one mix was played, and whether they agree with the contract. */
export interface MatrixRow extends MixOf8 {
  readonly registryless: boolean;
  readonly apiVersion: number;
  readonly createVmResult: "cid" | "[cid, networks]";
  readonly userData: "settings" | "registry" | "unusable";
  /** Requests to the registry, by the CPI method that caused them. */
  readonly registryWrites: Readonly<Record<string, readonly string[]>>;
  readonly attachDiskResult: DiskHintWire | null;
  /** The hint in the registry entry after attach_disk. */
  readonly registryHint: DiskHintWire | null;
  /** Messages of a Director to the agent about the disk, by the answer of attach_disk. */
  readonly agentCalls: readonly string[];
  readonly agrees: boolean;
  readonly problems: readonly string[];
}

const NETWORKS = {
  private: {
    type: "manual",
    ip: "10.0.4.9",
    netmask: "255.255.255.0",
    gateway: "10.0.4.1",
    dns: ["10.0.0.2"],
    default: ["dns", "gateway"],
    cloud_properties: {},
  },
};

/** Messages that an agent may get with a new disk. */
const ATTACHING = ["add_persistent_disk", "mount_disk"];

/**
 * Returns the messages of a Director that passes on the hint it got; without one the agent finds the disk in the
 * registry.
 */
const toldOf = (hint: DiskHintWire | null): readonly string[] =>
  hint === null ? ["mount_disk"] : ["add_persistent_disk", "mount_disk"];

/** Plays one mix as a Director of that age would: a VM, a disk attached and detached, everything removed again. */
export async function playMix(mix: MixOf8, stage: MatrixParts): Promise<MatrixRow> {
  const director = stage.uuid();
  const row = rowOf({ ...mix, deployer: "Director", agent: mix.stemcell === 1 ? "v1" : "v2" });
  if (row === undefined) throw new Error("bug: the contract has no such row");
  const { sent } = row;
  const call = async (method: string, args: readonly unknown[]): Promise<unknown> => {
    const context = {
      director_uuid: director,
      request_id: `cpi-${stage.uuid()}`,
      ...(sent.stemcell !== null && { vm: { stemcell: { api_version: sent.stemcell } } }),
    };
    const version = method === "info" ? null : sent.apiVersion;
    const request = {
      method,
      arguments: args,
      context,
      ...(version !== null && { api_version: version }),
    };
    const reply = await callCpi(stage.cpi, request);
    if (reply.error !== null)
      throw CpiRefused({ method, type: reply.error.type, message: reply.error.message });
    return reply.result;
  };

  const info = (await call("info", [])) as { readonly api_version?: unknown };
  const version = sent.apiVersion ?? 1;

  const stemcell = await call("create_stemcell", [stage.stemcellImage, {}]);
  const created = await call("create_vm", [stage.uuid(), stemcell, {}, NETWORKS, [], {}]);
  const vm = parseCreateVmResult(created, { apiVersion: version, networks: NETWORKS as never });
  if (!vm.ok) throw CpiDidNotAnswer({ path: stage.cpi.path, method: "create_vm", why: vm.problem });
  const { cid } = vm.vm;
  const writes: Record<string, readonly string[]> = {};
  let counted = 0;
  const count = (method: string) => {
    const all = stage.registryLog(cid);
    writes[method] = all.slice(counted).filter((verb) => verb !== "GET");
    counted = all.length;
  };
  count("create_vm");
  const userData = parseUserData(await stage.userData(cid));

  const disk = asDiskCid(await call("create_disk", [64, {}, cid]), stage);
  const attached = await call("attach_disk", [cid, disk]);
  count("attach_disk");
  const hint = parseAttachDiskResult(attached, { apiVersion: version, diskCid: disk });
  const registryHint = hintInEntry(await stage.registryEntry(cid), disk);
  await call("detach_disk", [cid, disk]);
  count("detach_disk");
  await call("delete_vm", [cid]);
  count("delete_vm");
  await call("delete_disk", [disk]);
  await call("delete_stemcell", [stemcell]);

  const attachDiskResult = hint.ok && hint.disk.hint !== undefined ? formatDiskHint(hint.disk.hint) : null;
  const seen = {
    ...mix,
    // Reading it would be using it too. One of the requests is our own look at the entry.
    registryless: stage.registryLog(cid).length - 1 === 0,
    apiVersion: version,
    createVmResult: typeof created === "string" ? ("cid" as const) : ("[cid, networks]" as const),
    userData: userData.ok ? userData.userData.form : ("unusable" as const),
    registryWrites: writes,
    attachDiskResult,
    registryHint,
    agentCalls: toldOf(attachDiskResult),
  };
  const problems = disagreements(seen, row, info.api_version, hint.ok ? undefined : hint.problem);
  return { ...seen, agrees: problems.length === 0, problems };
}

function disagreements(
  seen: Omit<MatrixRow, "agrees" | "problems">,
  row: ContractRow,
  info: unknown,
  hintProblem?: string,
): string[] {
  const problems: string[] = [];
  const expect = (what: string, got: unknown, wanted: unknown) => {
    if (JSON.stringify(got) !== JSON.stringify(wanted))
      problems.push(`${what}: ${JSON.stringify(got)}, should be ${JSON.stringify(wanted)}`);
  };
  if (hintProblem !== undefined) problems.push(hintProblem);
  // A CPI of version 1 need not name it.
  expect("info.api_version under debug.cpi.api_version", info ?? 1, row.cpi);
  expect("create_vm result", seen.createVmResult, row.createVm);
  expect("user-data", seen.userData, row.userData);
  expect("attach_disk returns a hint", seen.attachDiskResult !== null, row.attachDisk === "hint");
  expect("registry left alone", seen.registryless, !row.registry);
  expect("hint in the registry", seen.registryHint !== null, row.registry);
  const verbs = { create_vm: ["PUT"], attach_disk: ["PUT"], detach_disk: ["PUT"], delete_vm: ["DELETE"] };
  for (const [method, expected] of Object.entries(verbs)) {
    expect(`registry writes of ${method}`, seen.registryWrites[method], row.registry ? expected : []);
  }
  expect(
    "agent is told",
    seen.agentCalls,
    row.told[0].filter((message) => ATTACHING.includes(message)),
  );
  if (seen.attachDiskResult !== null && seen.registryHint !== null) {
    expect("hint in the registry and in the result", seen.registryHint, seen.attachDiskResult);
  }
  return problems;
}

function asDiskCid(value: unknown, stage: MatrixParts): DiskCid {
  if (matches(diskCid, value)) return value;
  throw CpiDidNotAnswer({
    path: stage.cpi.path,
    method: "create_disk",
    why: "it must return a non-empty string",
  });
}

function hintInEntry(entry: string | undefined, disk: DiskCid): DiskHintWire | null {
  if (entry === undefined) return null;
  const settings = parseStrictJson(entry, "the registry entry") as {
    readonly disks?: { readonly persistent?: Readonly<Record<string, DiskHintWire>> };
  };
  return settings.disks?.persistent?.[disk] ?? null;
}
