import { saveStemcell } from "@slipway/director/store/stemcells";
import type { StemcellCid } from "@slipway/protocol/ids";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it } from "vitest";
import type { ManifestSketch } from "../director/manifests.ts";
import { count, jobsStage, web } from "./testing/jobs-stage.ts";

sampleTests(1 / 4);

const { stage, run, done, task, converges } = jobsStage();

/** Two stemcells of one line; all is compiled for the first. */
beforeEach(async () => {
  const cid = "stemcell-2" as StemcellCid;
  const same = { name: "sim", operatingSystem: "sim-os", digest: "none", cpi: "", apiVersion: 3 };
  await saveStemcell(stage.bench.db, { ...same, version: "1.2", cid });
  stage.bench.world.stemcells.add(cid);
  await done(deploy("1.1"));
});

const deploy = (stemcell: string, ...exportedFrom: readonly string[]) => {
  const [release] = [{ name: "shop", version: "1" }];
  const locked = { ...release, exported_from: exportedFrom.map((version) => ({ os: "sim-os", version })) };
  const more: Partial<ManifestSketch> = {
    stemcell,
    releases: [exportedFrom.length === 0 ? release : locked],
  };
  return task([{ name: "web", instances: 1, jobs: [web()] }], {}, more);
};

describe("a release with exported_from", () => {
  it("is used as it was compiled for that stemcell, and not compiled for the group's own", async () => {
    const ended = await converges(deploy("1.2", "1.0", "1.1"));
    expect([count(ended, "create_vm"), count(ended, "compile_package")]).toEqual([1, 0]);
    // Without it, it is compiled once more.
    expect(count(await converges(deploy("1.2")), "compile_package")).toBe(2);
    // And what was compiled for the group's own stemcell is not what was asked for.
    const [back] = stage.bench.world.vms.values();
    await converges(deploy("1.2", "1.1"));
    expect([...stage.bench.world.vms.values()]).toEqual([back]);
  });

  it("is refused with its packages if it is not compiled for that stemcell, even with sources; nothing changes", async () => {
    const { state, message, changing } = await run(deploy("1.1", "1.0"));
    expect([state, changing]).toEqual(["error", []]);
    expect(message).toMatch(
      /^Can't use release 'shop\/1':\s+Packages must be exported from stemcell 'sim-os\/1.0', but some packages are not compiled for this stemcell:\s+- 'lib\/\w+'\s+- 'server\/\w+'/,
    );
    expect(stage.bench.world.compilations).toHaveLength(2);
  });

  it("is refused in its instance group if the group's stemcell is of another line", async () => {
    const { state, message } = await run(deploy("1.1", "2.1"));
    expect(state).toBe("error");
    expect(message).toContain(
      "Invalid release detected in instance group 'web' using stemcell 'sim-os/1.1': release 'shop' must be exported from stemcell 'sim-os/1.1'. Release 'shop' is exported from: 'sim-os/2.1'.",
    );
  });
});
