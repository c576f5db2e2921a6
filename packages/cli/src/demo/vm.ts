import { vm } from "@slipway/protocol/director/instance";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import type { Words } from "../cpis/descriptor.ts";
import { DEPLOYMENT, GROUP } from "./documents.ts";
import { NoVm } from "./errors.ts";

/** The demo's one instance, its VM and its disk. */
export interface DemoVm {
  readonly instance: string;
  readonly cid: string;
  readonly ip: string;
  readonly disk: string;
  readonly hint: unknown;
  /** How it came to its settings. */
  readonly channel: string;
  readonly cpiVersion: number;
  readonly stemcellVersion: number;
}

export async function vmOf(api: DirectorApi, { one }: Words): Promise<DemoVm> {
  const vms = await api.json({ method: "GET", path: `/deployments/${DEPLOYMENT}/vms` }, v.array(vm));
  const found = vms.find(({ active, job }) => active && job === GROUP);
  const { cid, slipway } = found ?? {};
  if (found === undefined || !cid || !slipway) throw NoVm({ what: `a ${one}` });
  const [disk] = Object.entries(slipway.disks?.persistent ?? {});
  if (disk === undefined) throw NoVm({ what: "a disk" });
  return {
    instance: found.id,
    cid,
    ip: found.ips?.[0] ?? "",
    disk: disk[0],
    hint: disk[1],
    channel: slipway.channel ?? "",
    cpiVersion: slipway.cpi_api_version,
    stemcellVersion: slipway.stemcell_api_version,
  };
}
