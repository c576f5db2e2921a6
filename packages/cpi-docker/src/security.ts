import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { DockerCloudContext } from "./cloud-context.ts";

const info = open({
  NCPU: v.number(),
  MemTotal: v.number(),
  SecurityOptions: v.optional(v.nullable(v.array(v.string()))),
});
export type EngineInfo = v.InferOutput<typeof info>;

export const engineInfo = ({ engine }: DockerCloudContext): Promise<EngineInfo> =>
  engine.json(info, { doing: "asking the engine what it has", method: "GET", path: "/info" });

/** AppArmor's usual profile forbids every mount, whatever capabilities there are. */
export async function securityOf(cloud: DockerCloudContext): Promise<readonly string[]> {
  const { SecurityOptions } = await engineInfo(cloud);
  return SecurityOptions?.some((option) => option.includes("name=apparmor")) ? ["apparmor=unconfined"] : [];
}
