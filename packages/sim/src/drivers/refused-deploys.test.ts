import { loadInstances } from "@slipway/director/store/instances";
import type { NewTask } from "@slipway/director/tasks/task";
import { describe, expect, it } from "vitest";
import { jobsStage, onAsk, shopRelease, web } from "./testing/jobs-stage.ts";

const { stage, run, done, upload, task } = jobsStage();

const deploy = (vmType = "small", instances = 1): NewTask =>
  task([{ name: "web", instances, vmType, jobs: [web()] }], {}, { swap: true });

/** The same manifest with the group under another name. */
const renamed = (given: NewTask): NewTask => {
  const params = given.params as { readonly manifest: string };
  const manifest = params.manifest.replace(
    "- name: web\n",
    "- name: front\n  migrated_from: [{name: web}]\n",
  );
  return { ...given, params: { ...params, manifest } };
};

const breakTemplate = () => upload(shopRelease({ version: "2", web: "broken: no such property" }));

const recorded = async () =>
  (await loadInstances(stage.bench.db, "shop")).map(({ group, index, uuid, ips }) => ({
    ...{ group, index, uuid },
    ips: ips.map(({ address }) => address),
  }));

describe("a deploy that fails before it changes anything", () => {
  it("gives back the addresses it reserved for second VMs", async () => {
    await done(deploy());
    const before = await recorded();
    await breakTemplate();
    expect(await run(deploy("big"))).toMatchObject({ state: "error", changing: [] });
    expect(await recorded()).toEqual(before);
  });

  it("leaves no instance behind when it is the first one", async () => {
    await breakTemplate();
    expect(await run(deploy("small", 3))).toMatchObject({ state: "error", changing: [] });
    expect(await recorded()).toEqual([]);
  });

  it("leaves instances under the name they had", async () => {
    await done(deploy());
    const before = await recorded();
    await breakTemplate();
    expect(await run(renamed(deploy()))).toMatchObject({ state: "error", changing: [] });
    expect(await recorded()).toEqual(before);
    await upload(shopRelease({ version: "3" }));
    await done(renamed(deploy()));
    expect(await recorded()).toMatchObject([{ group: "front", uuid: before[0]?.uuid }]);
  });

  it("gives back what it reserved when a package does not compile", async () => {
    const interference = onAsk("compile_package", () => Promise.resolve({ exception: "no compiler" }));
    expect(await run(deploy(), { interference })).toMatchObject({ state: "error" });
    expect(await recorded()).toEqual([]);
    await done(deploy());
  });
});
