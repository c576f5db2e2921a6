import { open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { DockerCloudContext } from "../cloud-context.ts";
import { type Engine, refused } from "../engine/engine.ts";
import { LABEL } from "../labels.ts";

const volume = open({ Name: v.string() });

export const hasVolume = async (engine: Engine, name: string): Promise<boolean> =>
  (await engine.find(volume, {
    doing: `looking for the volume '${name}'`,
    method: "GET",
    path: `/volumes/${name}`,
  })) !== undefined;

export const volumeExists = ({ engine, config }: DockerCloudContext): Promise<boolean> =>
  hasVolume(engine, config.volume);

/** Makes the volume. An existing one is used as it is: it may be on a disk of its own. */
export async function createVolume({ engine, config }: DockerCloudContext): Promise<void> {
  await engine.run({
    doing: `making the volume '${config.volume}'`,
    method: "POST",
    path: "/volumes/create",
    body: { Name: config.volume, Labels: { [LABEL.kind]: "disks", [LABEL.cid]: config.volume } },
  });
}

/** Refused by the engine while a container has it. */
export async function removeVolume({ engine, config }: DockerCloudContext): Promise<void> {
  const reply = await engine.attempt({
    doing: `removing the volume '${config.volume}'`,
    method: "DELETE",
    path: `/volumes/${config.volume}`,
  });
  if (!refused(reply)) reply.discard();
}
