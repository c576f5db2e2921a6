import { parseStrictJson } from "@slipway/kernel/strict-json";
import { parseAttachDiskResult } from "@slipway/protocol/cpi/attach-disk-result";
import { parseCreateVmResult } from "@slipway/protocol/cpi/create-vm-result";
import { type DiskCid, diskCid } from "@slipway/protocol/ids";
import { type Agreement, negotiate } from "@slipway/protocol/negotiate";
import { matches } from "@slipway/protocol/schema/check";
import { type DiskHintWire, formatDiskHint } from "@slipway/protocol/settings/disk-hint";
import { parseUserData } from "@slipway/protocol/settings/user-data";
import { CpiDidNotAnswer, CpiRefused } from "../errors.ts";
import { callCpi, type ExecCpi } from "../exec-cpi.ts";
import type { MixOf8 } from "./mixes.ts";

/** The live parts a row is played with. */
export interface Stage {
  readonly cpi: ExecCpi;
  /** What the agent of a VM would find in its user-data. */
  readonly userData: (vmCid: string) => Promise<string>;
  /** Requests the registry answered for one VM so far, such as `PUT`. */
  readonly registryLog: (vmCid: string) => readonly string[];
  readonly registryEntry: (vmCid: string) => Promise<string | undefined>;
  readonly stemcellImage: string;
  readonly uuid: () => string;
}

/** What was seen while one mix was played, and what the contract says of it. */
export interface Row extends MixOf8 {
  readonly registryless: boolean;
  readonly apiVersion: number;
  readonly createVmResult: "cid" | "[cid, networks]";
  readonly userData: "settings" | "registry" | "unusable";
  /** Requests to the registry, by the CPI method that caused them. */
  readonly registryWrites: Readonly<Record<string, readonly string[]>>;
  readonly attachDiskResult: DiskHintWire | null;
  /** The hint in the registry entry after attach_disk. */
  readonly registryHint: DiskHintWire | null;
  /** What a Director tells the agent then; by the contract, no agent takes part here. */
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

/** Plays one mix as a Director of that age would: a VM, a disk attached and detached, everything removed again. */
export async function playMix(mix: MixOf8, stage: Stage): Promise<Row> {
  const director = stage.uuid();
  const call = async (
    method: string,
    args: readonly unknown[],
    apiVersion: number | undefined,
  ): Promise<unknown> => {
    const context = {
      director_uuid: director,
      request_id: `cpi-${stage.uuid()}`,
      vm: { stemcell: { api_version: mix.stemcell } },
    };
    const request = {
      method,
      arguments: args,
      context,
      ...(apiVersion !== undefined && { api_version: apiVersion }),
    };
    const reply = await callCpi(stage.cpi, request);
    if (reply.error !== null)
      throw CpiRefused({ method, type: reply.error.type, message: reply.error.message });
    return reply.result;
  };

  const info = (await call("info", [], undefined)) as { readonly api_version?: unknown };
  const agreed = negotiate({ director: mix.director, cpi: info.api_version, stemcell: mix.stemcell });
  if (agreed.outcome === "refused")
    throw CpiDidNotAnswer({ path: stage.cpi.path, method: "info", why: agreed.problems.join("; ") });
  const version = agreed.apiVersion;

  const stemcell = await call(
    "create_stemcell",
    [stage.stemcellImage, {}, ...(version >= 3 ? [{}] : [])],
    version,
  );
  const created = await call("create_vm", [stage.uuid(), stemcell, {}, NETWORKS, [], {}], version);
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

  const disk = asDiskCid(await call("create_disk", [64, {}, cid], version), stage);
  const attached = await call("attach_disk", [cid, disk], version);
  count("attach_disk");
  const hint = parseAttachDiskResult(attached, { apiVersion: version, diskCid: disk });
  const registryHint = hintInEntry(await stage.registryEntry(cid), disk);
  await call("detach_disk", [cid, disk], version);
  count("detach_disk");
  await call("delete_vm", [cid], version);
  count("delete_vm");
  await call("delete_disk", [disk], version);
  await call("delete_stemcell", [stemcell], version);

  const seen = {
    ...mix,
    // Reading it would be using it too. One of the requests is our own look at the entry.
    registryless: stage.registryLog(cid).length - 1 === 0,
    apiVersion: version,
    createVmResult: typeof created === "string" ? ("cid" as const) : ("[cid, networks]" as const),
    userData: userData.ok ? userData.userData.form : ("unusable" as const),
    registryWrites: writes,
    attachDiskResult: hint.ok && hint.disk.hint !== undefined ? formatDiskHint(hint.disk.hint) : null,
    registryHint,
    agentCalls: agreed.agentCalls.attach,
  };
  const problems = disagreements(seen, agreed, mix, hint.ok ? undefined : hint.problem);
  return { ...seen, agrees: problems.length === 0, problems };
}

function disagreements(
  seen: Omit<Row, "agrees" | "problems">,
  agreed: Agreement,
  mix: MixOf8,
  hintProblem?: string,
): string[] {
  const problems: string[] = [];
  const expect = (what: string, got: unknown, wanted: unknown) => {
    if (JSON.stringify(got) !== JSON.stringify(wanted))
      problems.push(`${what}: ${JSON.stringify(got)}, should be ${JSON.stringify(wanted)}`);
  };
  if (hintProblem !== undefined) problems.push(hintProblem);
  expect("info.api_version under debug.cpi.api_version", agreed.cpi, mix.cpi);
  expect("create_vm result", seen.createVmResult, agreed.createVmResult);
  expect("user-data", seen.userData, agreed.userData);
  expect("attach_disk returns a hint", seen.attachDiskResult !== null, agreed.attachDiskReturnsHint);
  expect("registry left alone", seen.registryless, agreed.registryless);
  expect("hint in the registry", seen.registryHint !== null, !agreed.registryless);
  const verbs = { create_vm: ["PUT"], attach_disk: ["PUT"], detach_disk: ["PUT"], delete_vm: ["DELETE"] };
  for (const [method, expected] of Object.entries(verbs)) {
    const wanted = (agreed.registryWrites as readonly string[]).includes(method) ? expected : [];
    expect(`registry writes of ${method}`, seen.registryWrites[method], wanted);
  }
  if (seen.attachDiskResult !== null && seen.registryHint !== null) {
    expect("hint in the registry and in the result", seen.registryHint, seen.attachDiskResult);
  }
  return problems;
}

function asDiskCid(value: unknown, stage: Stage): DiskCid {
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
