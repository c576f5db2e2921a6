import type { MixPlayed } from "../matrix/contract.ts";
import { GROUP, type MixDiskType, makeStemcell, manifest } from "./documents.ts";
import type { MixLab } from "./mix-lab.ts";
import type { MixObservations, MixSnapshot, When } from "./row.ts";

/** Plays one mix through the Director's API as an operator would, and returns what was seen. */
export async function playMix(mix: MixPlayed, stage: MixLab): Promise<MixObservations> {
  const { client, notes, look } = stage;
  const name = `mix-${mix.director}${mix.cpi}${mix.stemcell}${mix.agent === "first v2" ? "-first" : ""}`;
  const stemcell = `${name}-stemcell`;
  const path = `/deployments/${name}`;
  const note = `written in ${name}`;
  const moments: MixSnapshot[] = [];
  notes.turnPage();

  const deploy = (disk: MixDiskType) =>
    client.task(`deploy ${name}`, {
      method: "POST",
      path: "/deployments",
      type: "text/yaml",
      body: manifest(name, stemcell, disk, mix.agent),
    });
  const change = (state: string) =>
    client.task(`bring ${name} to state ${state}`, {
      method: "PUT",
      path: `${path}/jobs/${GROUP}?state=${state}`,
      type: "text/yaml",
      body: "",
    });
  const store = `${path}/instance_groups/${GROUP}/0/store?path=note`;
  const write = () =>
    client.ask("write on the disk", {
      method: "PUT",
      path: store,
      type: "application/octet-stream",
      body: note,
    });
  const read = () => client.ask("read from the disk", { method: "GET", path: store });
  const lookAround = async (when: When, data: MixSnapshot["data"]): Promise<void> =>
    void moments.push(await look.moment(when, notes, data));
  const still = async () => ((await read()) === note ? "kept" : "lost");

  await client.task("take the stemcell", {
    method: "POST",
    path: "/stemcells",
    type: "application/x-compressed",
    body: await makeStemcell(stage.dir, stemcell, mix.stemcell, stage.part.stemcell),
  });
  await deploy("small");
  await write();
  await lookAround("deployed", "written");
  await change("recreate");
  await lookAround("recreated", await still());
  await deploy("large");
  await lookAround("resized", await still());
  await change("detached");
  await lookAround("stopped", null);
  await client.task(`delete ${name}`, { method: "DELETE", path });
  await lookAround("deleted", null);

  for (const disk of new Set(notes.calls.flatMap((call) => call.disk ?? [])))
    await client.task(`delete disk ${disk}`, { method: "DELETE", path: `/disks/${disk}` });
  await client.task(`delete ${stemcell}`, { method: "DELETE", path: `/stemcells/${stemcell}/1.0` });
  return {
    ...mix,
    cpiSaid: notes.cpiSaid,
    calls: notes.calls,
    moments,
    told: notes.told,
    left: await look.things(),
  };
}
