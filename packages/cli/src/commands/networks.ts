import { type Network, network } from "@slipway/protocol/director/network";
import * as v from "valibot";
import type { DirectorApi } from "../api/director-api.ts";
import { refusalOf } from "../api/refusal.ts";
import type { Command } from "../command.ts";
import { timeText } from "../ui/time-text.ts";
import type { Ui } from "../ui/ui.ts";
import { OnlyOrphanNetworks } from "./errors.ts";

export const networks: Command = {
  name: "networks",
  summary: "list networks that CPIs have made for deployments, or orphaned ones",
  topic: "inspect",
  options: [{ flags: "-o, --orphaned", about: "those that no deployment uses any more" }],
  examples: [
    ["slipway networks", "with their subnets, and who uses them"],
    ["slipway networks --orphaned", "what `delete-network` deletes"],
  ],
  async run(given, { ui, director }) {
    const api = await director();
    if (given.flag("orphaned")) await showOrphans(api, ui);
    else await showAll(api, ui);
    return 0;
  },
};

const orphanedNetworks = (api: DirectorApi): Promise<readonly Network[]> =>
  api.json({ method: "GET", path: "/networks", query: { orphaned: "true" } }, v.array(network));

async function showOrphans(api: DirectorApi, ui: Ui): Promise<void> {
  ui.table({
    content: "networks",
    header: { name: "Name", type: "Type", created_at: "Created At", orphaned_at: "Orphaned At" },
    rows: (await orphanedNetworks(api)).map((one) => [
      one.name,
      one.type ?? "",
      timeText(one.created_at),
      timeText(one.orphaned_at),
    ]),
  });
}

/** Ours: upstream's Director lists orphaned ones only. */
const allNetworks = async (api: DirectorApi): Promise<readonly Network[]> => {
  try {
    return await api.json({ method: "GET", path: "/networks" }, v.array(network));
  } catch (error) {
    if ((refusalOf(error)?.status ?? 0) >= 500) throw OnlyOrphanNetworks({});
    throw error;
  }
};

/** Returns true if a network of that name is listed, also by a Director that lists only orphaned ones. */
export async function isListed(api: DirectorApi, name: string): Promise<boolean> {
  const listed = await allNetworks(api).catch((error: unknown) => {
    if (OnlyOrphanNetworks.is(error)) return orphanedNetworks(api);
    throw error;
  });
  return listed.some((one) => one.name === name);
}

async function showAll(api: DirectorApi, ui: Ui): Promise<void> {
  const all = await allNetworks(api);
  ui.table({
    content: "networks",
    header: {
      name: "Name",
      subnet: "Subnet",
      network_cid: "Network CID",
      range: "Range",
      gateway: "Gateway",
      deployments: "Deployments",
      orphaned_at: "Orphaned At",
    },
    rows: all.flatMap(({ name, subnets, deployments, orphaned_at: at }) =>
      (subnets ?? []).map((one) => [
        name,
        one.name,
        one.cid,
        one.range ?? "",
        one.gateway ?? "",
        (deployments ?? []).join("\n"),
        timeText(at),
      ]),
    ),
  });
}
