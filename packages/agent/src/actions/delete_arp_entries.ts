import type { Action } from "./action.ts";

export const deleteArpEntries: Action<"delete_arp_entries"> = async ({ addresses }, { services }) => {
  await services.platform.networks.deleteArpEntries(addresses.ips ?? []);
  return {};
};
