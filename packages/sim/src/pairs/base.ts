import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { saveConfig } from "@slipway/director/store/configs";
import type { NewTask } from "@slipway/director/tasks/task";
import { releaseFile } from "../crash/scenarios/release-file.ts";
import { stemcellFile } from "../crash/scenarios/stemcell-file.ts";
import { deployTask, taskOf } from "../crash/scenarios/tasks.ts";
import { CLOUD_CONFIG, type ManifestSketch } from "../director/manifests.ts";
import { type Records, readRecords } from "../judge/records.ts";
import { DirectorLife, type DirectorLifeOptions } from "../schedule/director-life.ts";
import type { Lab } from "../schedule/lab.ts";

/** The state that all pairs start from: each operation has something to do there, and shares it with others. */

export const LIFE: DirectorLifeOptions = {
  seed: "pairs",
  cpi: { remembers: true, resizes: false },
  snapshots: true,
  dns: false,
};

/** Number of the cloud config that has the managed network. */
const MANAGED = 3;

const jobs = [{ name: "web", release: "web" }];

export const shop = (more: Partial<ManifestSketch> = {}, disk = "d1"): ManifestSketch => ({
  name: "shop",
  releases: [{ name: "web", version: "1" }],
  groups: [
    { name: "web", instances: 1 },
    { name: "db", instances: 1, disk },
    { name: "app", instances: 1, jobs },
    { name: "tests", instances: 1, jobs, errand: true },
  ],
  ...more,
});

export const other = (instances: number, more: Partial<ManifestSketch> = {}): ManifestSketch => ({
  name: "other",
  groups: [{ name: "db", instances, disk: "d1", vmType: instances === 1 ? "big" : "small" }],
  ...more,
});

export const networked = (network: string): NewTask => {
  const groups = [{ name: "web", instances: 1, network }];
  const task = deployTask({ name: "networked", groups });
  return { ...task, params: { ...task.params, cloud_config_ids: [MANAGED] } };
};

const sick: ManifestSketch = { name: "sick", groups: [{ name: "db", instances: 1, disk: "d1" }] };

export const uploaded = (lab: Lab, file: string): string => join(lab.uploadsDir, file);

/** Archives that uploads find, as the API leaves them for the task. */
export const FILES: Readonly<Record<string, () => Promise<Buffer>>> = {
  "stemcell-2.2.tgz": () => stemcellFile("sim", "2.2"),
  "stemcell-2.3.tgz": () => stemcellFile("sim", "2.3"),
  "release-1.tgz": () => releaseFile("web", "1", true),
  "release-2.tgz": () => releaseFile("web", "2", true),
  "release-3.tgz": () => releaseFile("web", "3", true),
};

export async function writeFiles(lab: Lab): Promise<void> {
  for (const [name, make] of Object.entries(FILES)) await writeFile(uploaded(lab, name), await make());
}

export const stemcellTask = (lab: Lab, version: string, fix = false): NewTask =>
  taskOf("update_stemcell", { path: uploaded(lab, `stemcell-${version}.tgz`), fix });
export const releaseTask = (lab: Lab, version: string, fix = false): NewTask =>
  taskOf("update_release", { path: uploaded(lab, `release-${version}.tgz`), fix, rebase: false });

export const instanceIn = (records: Records, deployment: string, group: string) => {
  const found = records.instances.find((one) => one.deployment === deployment && one.group === group);
  if (found === undefined) throw new Error(`there is no instance of ${deployment}/${group}`);
  return found;
};

/** Brings an empty lab to the common state. */
export async function prepareBase(lab: Lab): Promise<void> {
  await lab.reset();
  const store = await lab.store();
  let lives = 0;
  const run = async (task: NewTask | ((records: Records) => NewTask)) => {
    lives += 1;
    // Ids that chance gives must differ between lives.
    const life = await DirectorLife.begin(lab, { ...LIFE, seed: `base ${lives}` });
    lab.scheduler.patienceMs = 3;
    const asked = typeof task === "function" ? task(await readRecords(lab.admin)) : task;
    life.director.start();
    life.enqueue(asked);
    await life.finish();
    await life.end();
    const last = (await readRecords(lab.admin)).tasks.at(-1);
    if (last?.state !== "done")
      throw new Error(`on the way to the pairs, ${asked.type} ended as ${last?.state}: ${last?.result}`);
  };
  const config = `- name: made
  type: manual
  managed: true
  subnets:
  - {name: one, range: 10.8.0.0/24, gateway: 10.8.0.1, azs: [z1]}
compilation:`;
  const content = CLOUD_CONFIG.replace("compilation:", config);
  const saved = saveConfig(store.db, { type: "cloud", name: "managed", content });
  const saver = await DirectorLife.begin(lab, LIFE);
  await saver.drive((ready) => (ready[0] === undefined ? "stop" : { gate: ready[0] }));
  await saved;
  await writeFiles(lab);
  await run(stemcellTask(lab, "2.2"));
  await run(releaseTask(lab, "1"));
  await run(releaseTask(lab, "2"));
  for (const disk of ["d1", "d2", "d3"]) await run(deployTask(shop({}, disk)));
  await run(deployTask({ ...other(2), swap: true }));
  await run(deployTask({ ...other(1), swap: true }));
  await run(networked("made"));
  await run(networked("private"));
  await run(deployTask(sick));
  await run(taskOf("snapshot_deployment", { deployment: "shop" }));
  await run((records) => ({
    ...taskOf("update_instance", {
      ...{ group: "db", instance: instanceIn(records, "shop", "db").uuid, action: "stop", hard: true },
      ...{ skip_drain: false, ignore_unresponsive_agent: false },
    }),
    deployment: "shop",
  }));
  // The VM of `sick` is gone from the cloud, and cloud-check knows.
  const { vms } = await readRecords(lab.admin);
  for (const { cid } of vms.filter(({ instance }) => instance.startsWith("sick/"))) {
    lab.world.vms.delete(cid);
    for (const disk of lab.world.disks.values()) if (disk.attachedTo === cid) disk.attachedTo = null;
  }
  await run(taskOf("cck_scan", { deployment: "sick" }));
  await writeFiles(lab);
}
