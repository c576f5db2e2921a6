import type { PlanInput } from "@slipway/engine/plan/model";
import { takenIps } from "../../store/ips.ts";
import type { OperationContext } from "../operation.ts";

/** Addresses that are not this deployment's, and whose they are. */
export async function othersIps(
  deployment: string,
  { db, ownIps }: Pick<OperationContext, "db" | "ownIps">,
): Promise<PlanInput["takenIps"]> {
  const taken = await takenIps(db, deployment);
  for (const ip of ownIps) taken.set(ip, "the Director");
  return taken;
}
