import { join } from "node:path";
import { isTaken } from "@slipway/kernel/ports";
import { buildLocalStemcell, LOCAL_STEMCELL } from "../../stemcells/build-local.ts";
import type { DemoSetup, StageTools } from "../descriptor.ts";
import { RANGE, WORDS } from "./descriptor.ts";
import { RangeTaken } from "./errors.ts";

const AGENT_PORT = 6868;

export const localStage = ({ clock }: StageTools): DemoSetup => ({
  words: WORDS,
  ranges: RANGE.usual,
  comment: "The addresses of sandboxes: loopback, and nobody else's on this machine.",
  stemcell: {
    doing: "Uploading the built-in stemcell",
    about: "sandboxes see this machine's own files, read-only",
    id: async () => LOCAL_STEMCELL,
    archive: async (dir) => {
      const { name, version } = LOCAL_STEMCELL;
      const path = join(dir, `${name}-${version}.tgz`);
      await buildLocalStemcell({ to: path, clock });
      return { path, done: async () => undefined };
    },
  },
  // Part of the home itself: no other program removes it.
  hasStemcell: async () => true,
  /** Checks the first address that is given out: another agent, or another program, may have it. */
  taken: async (range) => {
    const host = range.replace(/0\/24$/, "2");
    return (await isTaken(host, AGENT_PORT))
      ? RangeTaken({ address: `${host} port ${AGENT_PORT}` })
      : undefined;
  },
  look: [],
});
