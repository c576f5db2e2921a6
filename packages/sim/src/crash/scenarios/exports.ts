import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CrashScenario, Move, View } from "../scenario.ts";
import { releaseFile } from "./release-file.ts";
import { stemcellFile } from "./stemcell-file.ts";
import { deployTask, remembers, shop, taskOf } from "./tasks.ts";

const released: readonly Move[] = [
  {
    world: async ({ uploadsDir }) =>
      writeFile(join(uploadsDir, "release.tgz"), await releaseFile("web", "1")),
  },
  {
    task: ({ uploadsDir }) =>
      taskOf("update_release", { path: join(uploadsDir, "release.tgz"), fix: false, rebase: false }),
  },
  {
    task: deployTask({
      ...shop({ name: "app", instances: 1, jobs: [{ name: "web", release: "web" }] }),
      releases: [{ name: "web", version: "1" }],
    }),
  },
];
/** Nothing is compiled for it yet. */
const otherStemcell: readonly Move[] = [
  {
    world: async ({ uploadsDir }) =>
      writeFile(join(uploadsDir, "stemcell.tgz"), await stemcellFile("sim", "2.2")),
  },
  {
    task: ({ uploadsDir }) =>
      taskOf("update_stemcell", { path: join(uploadsDir, "stemcell.tgz"), fix: false }),
  },
];

const exported = (version: string) => ({
  task: taskOf("export_release", {
    ...{ deployment: "shop", release: "web", version: "1", sha2: true, jobs: [] },
    ...{ stemcell_os: "sim-os", stemcell_version: version },
  }),
});

/** One archive, whoever was killed; and no VM that compiles. */
const once = ({ blobs, world }: View): readonly string[] => {
  const found = blobs.filter((id) => id.startsWith("exported-release-")).length;
  return found === 1 && world.vms.size === 1
    ? []
    : [`there are ${found} exported releases and ${world.vms.size} VMs`];
};

export const EXPORTS: readonly CrashScenario[] = [
  {
    name: "export a release that is compiled",
    cpi: remembers,
    before: released,
    move: exported("1.1"),
    expects: once,
  },
  {
    name: "export a release for a stemcell that it is not compiled for yet",
    cpi: remembers,
    before: [...released, ...otherStemcell],
    move: exported("2.2"),
    expects: once,
  },
];
