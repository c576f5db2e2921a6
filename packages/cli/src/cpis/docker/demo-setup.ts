import { rm } from "node:fs/promises";
import { networkInterfaces } from "node:os";
import { join } from "node:path";
import { shellWord } from "@slipway/kernel/shell";
import type { DemoSetup, StageTools } from "../descriptor.ts";
import { DEFAULT_HOST, type DockerChoice, RANGE, WORDS } from "./descriptor.ts";
import { openEngine } from "./engine.ts";
import { RangeInUse } from "./errors.ts";
import { holderOfRange } from "./networks.ts";

export const dockerStage = (choice: DockerChoice, { clock, programs }: StageTools): DemoSetup => ({
  words: WORDS,
  ranges: RANGE.usual,
  comment: "The addresses of containers: a Docker network is made for them.",
  stemcell: {
    doing: "Making a stemcell of this machine's programs",
    about: "this machine's own programs, and the agent",
    id: async () => (await import("../../stemcells/build-host.ts")).hostStemcellId(programs),
    archive: async (dir) => {
      const { buildHostStemcell } = await import("../../stemcells/build-host.ts");
      const path = join(dir, "host-stemcell.tgz");
      await buildHostStemcell({ to: path, agent: programs.agent, clock });
      return { path, done: () => rm(path, { force: true }) };
    },
  },
  hasStemcell: async (cid) => {
    const { findImage, referenceOf, tagOf } = await import("@slipway/cpi-docker/stemcells/images");
    const tag = tagOf(cid);
    const engine = await openEngine(choice, clock);
    return tag !== undefined && (await findImage({ engine }, referenceOf(tag))) !== undefined;
  },
  taken: async (range) => {
    const engine = await openEngine(choice, clock);
    const holder = await holderOfRange(
      engine,
      range,
      choice.host.startsWith("unix:") ? networkInterfaces() : {},
    );
    return holder === undefined ? undefined : RangeInUse({ range, holder });
  },
  look: [
    `docker ${choice.host === DEFAULT_HOST ? "" : `-H ${shellWord(choice.host)} `}ps --filter label=slipway.deployment=demo`,
  ],
});
