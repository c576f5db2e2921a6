import type { GroupName, InstanceUuid } from "@slipway/engine/model/names";
import { ensureDeployment } from "../deployments.ts";
import { createInstances, type NewInstance } from "../instances.ts";
import type { Db } from "../schema.ts";

export const uuid = (text: string) => text as InstanceUuid;

export const newInstance = (index: number, more: Partial<NewInstance> = {}): NewInstance => ({
  uuid: uuid(`uuid-${index}`),
  group: "web" as GroupName,
  index,
  az: "z1",
  state: "started",
  bootstrap: index === 0,
  ips: [],
  ...more,
});

export const ip = (address: string, network = "default") => ({ address, network, static: false });

/** The deployment `shop` with these instances. */
export async function shop(db: Db, ...instances: NewInstance[]): Promise<number> {
  const { id } = await ensureDeployment(db, "shop");
  await createInstances(db, "shop", 1, instances);
  return id;
}
