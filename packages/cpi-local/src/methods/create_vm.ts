import { join } from "node:path";
import { exists } from "@slipway/kernel/files";
import { openCloud, place } from "../local-cloud.ts";
import { forwardingTrouble } from "../networks/forwarding.ts";
import { planNetworks } from "../networks/plan.ts";
import { startSandbox } from "../sandbox/start.ts";
import { rootOfStemcell } from "../stemcells/stemcells.ts";
import { vmDir } from "../vm-record.ts";
import { createVm as create, removeVm, withVm } from "../vms/vms.ts";
import type { LocalMethods } from "./_method.ts";

/** Makes and starts a sandbox; does not wait for its agent. */
export const createVm: LocalMethods["createVm"] = async (
  { stemcellCid, networks },
  { config, token, userData, log, cleanup },
) => {
  const cloud = await openCloud(config);
  const root = await rootOfStemcell(cloud, stemcellCid);
  const cid = `vm-${token}`;
  const plan = planNetworks(cid, networks, cloud.isRoot);
  const vcap = root === "host" ? undefined : join(root, "var", "vcap");
  const settings = userData({ networks: plan.networks, disks: { system: "" }, name: cid, serverName: cid });
  await withVm(cloud, cid, async () => {
    cleanup(() => withVm(cloud, cid, () => removeVm(cloud, cid)));
    await create(cloud, cid, {
      userData: settings,
      plan,
      record: {
        format: 1,
        stemcell: root === "host" ? null : place(stemcellCid),
        stemcellCid,
        ownNetwork: plan.ownNetwork,
        addresses: [...plan.addresses],
      },
      vcap: vcap !== undefined && (await exists(vcap)) ? vcap : undefined,
    });
    const init = await startSandbox(cloud, vmDir(cloud, cid), cid);
    log.info(`the sandbox ${cid} is process ${init.pid}`);
  });
  const trouble = plan.ownNetwork ? await forwardingTrouble(cloud) : undefined;
  if (trouble !== undefined) log.warn(trouble);
  return { cid, networks: plan.networks };
};
