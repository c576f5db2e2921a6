import { hasVolume } from "@slipway/cpi-docker/disks/volume";
import type { Engine } from "@slipway/cpi-docker/engine/engine";
import { execIn } from "@slipway/cpi-docker/engine/exec";
import { LABEL, labelled } from "@slipway/cpi-docker/labels";
import { mapOf, open } from "@slipway/protocol/schema/json";
import * as v from "valibot";
import type { HomeState, VmState } from "../descriptor.ts";
import type { DockerChoice } from "./descriptor.ts";

/** Returns the VMs and disks of a home on an engine. */
export async function seenOn(engine: Engine, { director, volume }: DockerChoice): Promise<HomeState> {
  // Before its first start a Director has no name, and nothing.
  const vms = director === undefined ? [] : await containersOf(engine, director);
  return { vms, disks: await disksIn(engine, volume) };
}

const containers = v.array(
  open({ Id: v.string(), State: v.string(), Labels: v.optional(v.nullable(mapOf(v.string()))) }),
);

async function containersOf(engine: Engine, director: string): Promise<readonly VmState[]> {
  const found = await list(engine, { [LABEL.kind]: "vm", [LABEL.director]: director });
  return found.map(({ Id, State, Labels }) => ({
    cid: Labels?.[LABEL.cid] ?? Id,
    running: State === "running" || State === "restarting",
  }));
}

/** The disk helper knows. Undefined when it does not run: looking starts nothing. */
async function disksIn(engine: Engine, volume: string): Promise<number | undefined> {
  const [diskHelper] = await list(engine, { [LABEL.kind]: "keeper", [LABEL.disks]: volume });
  if (diskHelper === undefined) return (await hasVolume(engine, volume)) ? undefined : 0;
  if (diskHelper.State !== "running") return undefined;
  // Names that begin with a dot are of disks in the making.
  const script = "cd /slipway/disks 2>/dev/null && ls || exit 0";
  const { stdout } = await execIn(engine, diskHelper.Id, ["sh", "-c", script], "counting disks");
  return stdout.split("\n").filter((line) => line !== "").length;
}

const list = (engine: Engine, labels: Readonly<Record<string, string>>) =>
  engine.json(containers, {
    doing: "listing containers",
    method: "GET",
    path: "/containers/json",
    query: { all: "true", filters: labelled(labels) },
  });
