import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { MixPlayed } from "../matrix/contract.ts";
import { type DiskType, makeStemcell } from "./documents.ts";
import type { EnvStage } from "./env-stage.ts";
import type { Moment, Seen, When } from "./row.ts";

/** The story of one mix as `create-env` tells it: no Director takes part. */
export async function playEnv(mix: MixPlayed, stage: EnvStage): Promise<Seen> {
  const { notes, look, dir } = stage;
  const name = `env-${mix.cpi}${mix.stemcell}`;
  const note = `written in ${name}`;
  const moments: Moment[] = [];
  notes.turnPage();
  const stemcell = join(dir, `${name}.tgz`);
  await writeFile(stemcell, await makeStemcell(dir, `${name}-stemcell`, mix.stemcell, stage.part.stemcell));

  const deploy = (disk: DiskType, ...flags: readonly string[]) =>
    stage.deploy({ name, stemcell, disk, agent: mix.agent }, ...flags);
  const lookAround = async (when: When, data: Moment["data"]): Promise<void> =>
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
