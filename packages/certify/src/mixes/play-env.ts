import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MixPlayed } from "../matrix/contract.ts";
import { type MixDiskType, makeStemcell } from "./documents.ts";
import type { CreateEnvLab } from "./env-lab.ts";
import type { MixObservations, MixSnapshot, When } from "./row.ts";

/** The story of one mix as `create-env` tells it: no Director takes part. */
export async function playEnv(mix: MixPlayed, stage: CreateEnvLab): Promise<MixObservations> {
  const { notes, look, dir } = stage;
  const name = `env-${mix.cpi}${mix.stemcell}`;
  const note = `written in ${name}`;
  const moments: MixSnapshot[] = [];
  notes.turnPage();
  const stemcell = join(dir, `${name}.tgz`);
  await writeFile(stemcell, await makeStemcell(dir, `${name}-stemcell`, mix.stemcell, stage.part.stemcell));

  const deploy = (disk: MixDiskType, ...flags: readonly string[]) =>
    stage.deploy({ name, stemcell, disk, agent: mix.agent }, ...flags);
  const lookAround = async (when: When, data: MixSnapshot["data"]): Promise<void> =>
    void moments.push(await look.moment(when, notes, data));
  const still = async () => {
    const agent = await stage.agent();
    const { content } = (await agent.value("read_store_file", [{ path: "note" }])) as { content: string };
    return content === note ? "kept" : "lost";
  };

  await deploy("small");
  await (await stage.agent()).value("write_store_file", [{ path: "note", content: note }]);
  await lookAround("deployed", "written");
  await deploy("small", "--recreate");
  await lookAround("recreated", await still());
  await deploy("large");
  await lookAround("resized", await still());
  await stage.delete();
  await lookAround("deleted", null);
  return {
    ...mix,
    cpiSaid: notes.cpiSaid,
    calls: notes.calls,
    moments,
    told: notes.told,
    left: await look.things(),
  };
}
