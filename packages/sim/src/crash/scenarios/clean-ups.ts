import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { CrashScenario, Move, View } from "../scenario.ts";
import { releaseFile } from "./release-file.ts";
import { stemcellFile } from "./stemcell-file.ts";
import { db, deployed, deployTask, remembers, shop, taskOf } from "./tasks.ts";

const release = (version: string): readonly Move[] => [
  {
    world: async ({ uploadsDir }) =>
      writeFile(join(uploadsDir, "release.tgz"), await releaseFile("web", version)),
  },
  {
    task: ({ uploadsDir }) =>
      taskOf("update_release", { path: join(uploadsDir, "release.tgz"), fix: false, rebase: false }),
  },
];
const stemcell = (version: string): readonly Move[] => [
  {
    world: async ({ uploadsDir }) =>
      writeFile(join(uploadsDir, "stemcell.tgz"), await stemcellFile("sim", version)),
  },
  {
    task: ({ uploadsDir }) =>
      taskOf("update_stemcell", { path: join(uploadsDir, "stemcell.tgz"), fix: false }),
  },
];
const app = (version: string) =>
  deployTask({
    ...shop({ name: "app", instances: 1, jobs: [{ name: "web", release: "web" }] }),
    releases: [{ name: "web", version }],
  });
const exported = (version: string): Move => ({
  task: taskOf("export_release", {
    ...{ deployment: "shop", release: "web", version: "1", sha2: true, jobs: [] },
    ...{ stemcell_os: "sim-os", stemcell_version: version },
  }),
});

const cleanUp = (all: boolean) => ({
  task: taskOf("delete_artifacts", { remove_all: all, keep_orphaned_disks: false }),
});
const orphans = ({ remembered }: View) => [...remembered.orphanDisks];

/** These releases and stemcells are there, and no exported ones. */
const left =
  (releases: string, stemcells: string) =>
  ({ releases: found, blobs, remembered }: View): readonly string[] => {
    const versions = found.map(({ version }) => version).join(" ");
    const cells = remembered.stemcells.map(({ version }) => version).sort();
    const exports = blobs.filter((id) => id.startsWith("exported-release-")).length;
    return versions === releases && cells.join(" ") === stemcells && exports === 0
      ? []
      : [`there are the releases ${versions}, the stemcells ${cells.join(" ")} and ${exports} exported ones`];
  };

const versions = ["1", "2", "3", "4"];

export const CLEAN_UPS: readonly CrashScenario[] = [
  {
    name: "clean up",
    cpi: remembers,
    before: [
      ...versions.flatMap(release),
      ...["2.1", "2.2", "2.3"].flatMap(stemcell),
      { task: app("1") },
      exported("1.1"),
    ],
    move: cleanUp(false),
    expects: left("1 3 4", "1.1 2.2 2.3"),
  },
  {
    name: "clean up all",
    cpi: remembers,
    before: [
      ...release("1"),
      ...release("2"),
      ...stemcell("2.2"),
      { task: app("1") },
      exported("2.2"),
      // Its stemcell is not in use any more after the next deploy.
      deployed(shop(db("d1"))),
      { task: app("1") },
    ],
    move: cleanUp(true),
    deletes: orphans,
    expects: (view) => [
      ...left("1", "1.1")(view),
      ...orphans(view).map((cid) => `orphaned disk ${cid} is still there`),
    ],
  },
];
