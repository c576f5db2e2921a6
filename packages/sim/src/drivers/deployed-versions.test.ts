import { listDeployments } from "@slipway/director/store/deployments";
import { listReleases } from "@slipway/director/store/releases";
import { saveStemcell } from "@slipway/director/store/stemcells";
import type { StemcellCid } from "@slipway/protocol/ids";
import { describe, expect, it } from "vitest";
import { stateTask, taskOf } from "../crash/scenarios/tasks.ts";
import { count, jobsStage, shopRelease, web } from "./testing/jobs-stage.ts";

const { stage, run, done, upload, task } = jobsStage();

const deploy = (stemcell = "1.1") => task([{ name: "web", instances: 1, jobs: [web()] }], {}, { stemcell });

const used = async () => {
  const [{ releases, stemcells } = {}] = await listDeployments(stage.bench.db, ["shop"]);
  return { releases, stemcells };
};

describe("versions of a deployment", () => {
  it.each(["recreate", "restart"])("keeps the release that latest meant at the deploy on %s", async (to) => {
    await done(deploy());
    await upload(shopRelease({ version: "2", web: "another template" }));
    await done(stateTask(to));
    expect(await used()).toMatchObject({ releases: [{ name: "shop", version: "1" }] });
    await done(deploy());
    expect(await used()).toMatchObject({ releases: [{ name: "shop", version: "2" }] });
  });

  it("keeps the stemcell that latest meant at the deploy on recreate", async () => {
    await done(deploy("latest"));
    const cid = "stemcell-2" as StemcellCid;
    const same = { name: "sim", operatingSystem: "sim-os", digest: "none", cpi: "", apiVersion: 3 };
    await saveStemcell(stage.bench.db, { ...same, version: "1.2", cid });
    stage.bench.world.stemcells.add(cid);
    await done(stateTask("recreate"));
    expect(await used()).toMatchObject({ stemcells: [{ name: "sim", version: "1.1" }] });
    await done(deploy("latest"));
    expect(await used()).toMatchObject({ stemcells: [{ name: "sim", version: "1.2" }] });
  });

  it("include releases that no job uses, which cannot be deleted then", async () => {
    await done(task([]));
    expect(await used()).toMatchObject({ releases: [{ name: "shop", version: "1" }] });
    const { state, message } = await run(taskOf("delete_release", { name: "shop", force: false }));
    expect([state, message]).toEqual(["error", expect.stringContaining("shop")]);
  });

  it("include releases that no job uses, which are exported compiled and survive a clean-up", async () => {
    await done(task([]));
    const release = { deployment: "shop", release: "shop", version: "1", jobs: [], sha2: true };
    const stemcell = { stemcell_os: "sim-os", stemcell_version: "1.1" };
    const exported = await done(taskOf("export_release", { ...release, ...stemcell }));
    expect(count(exported, "compile_package")).toBe(3);
    await done(taskOf("delete_artifacts", { remove_all: true, keep_orphaned_disks: false }));
    expect(await listReleases(stage.bench.db, { name: "shop" })).toHaveLength(1);
    expect((await done(task([]))).changing).toEqual([]);
  });

  it("are refused when a release that no job uses is missing", async () => {
    const missing = task([], {}, { releases: [{ name: "absent", version: "1" }] });
    expect(await run(missing)).toMatchObject({
      state: "error",
      message: expect.stringContaining("Release 'absent' doesn't exist") as string,
    });
  });
});
