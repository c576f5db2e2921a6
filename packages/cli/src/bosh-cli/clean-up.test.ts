import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { releaseTarball } from "@slipway/testkit/release-tarball";
import { describe, expect, it } from "vitest";
import { canPlay } from "./testing/requirements.ts";
import { makeStemcell } from "./testing/stemcell.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())("clean-up, with the real CLI", () => {
  const world = openWorld();
  const job = { spec: { packages: ["web"] }, monit: "", templates: {} };
  const packages = { web: { files: { packaging: 'echo > "$BOSH_INSTALL_TARGET/web"' } } };
  const upload = async (name: string, version: string) => {
    const path = join(world().dir, `${name}-${version}.tgz`);
    await writeFile(path, await releaseTarball({ name, version, jobs: { web: job }, packages }));
    await world().bosh.run("upload-release", path);
  };
  const uploadStemcell = async (version: string) => {
    await world().bosh.run("upload-stemcell", (await makeStemcell(world().dir, version)).file);
  };
  const named = async (list: "releases" | "stemcells") =>
    (await world().bosh.rows(list)).map(({ name, version }) => `${name}/${version}`);
  const blobs = async () => (await readdir(world().state("blobs"))).filter((id) => /^(release|exp)/.test(id));

  it("keeps what is used, what a runtime config names, and the newest two of each", async () => {
    const { bosh } = world();
    await world().seed();
    for (const version of ["1", "2", "3", "4"]) await upload("app", version);
    for (const version of ["1", "2", "3"]) await upload("other", version);
    await bosh.run(
      "update-runtime-config",
      await world().file("runtime.yml", { releases: [{ name: "other", version: "1" }] }),
    );
    const group = { name: "app", disk: "small" as const, jobs: [{ name: "web", release: "app" }] };
    await world().deploy("shop", [group]);
    await bosh.run("-d", "shop", "export-release", "app/4", "local/1.0", `--dir=${world().dir}`);
    for (const version of ["1.1", "1.2", "1.3"]) await uploadStemcell(version);
    const said = await bosh.run("clean-up");
    expect(said.blocks).toContain("Deleting releases: app/1");
    expect(said.blocks).toContain("Deleting stemcells: ");
    expect(said.blocks).toContain("Deleting exported releases: exported-release-");
    expect(await named("releases")).toEqual(["app/4*", "app/3", "app/2", "other/3", "other/2", "other/1"]);
    expect((await named("stemcells")).map((one) => one.replace(/.*\//, ""))).toEqual(["1.3", "1.2", "1.0*"]);
    expect((await blobs()).filter((id) => id.startsWith("exported"))).toEqual([]);
    const [task] = await bosh.rows("tasks", "--recent=1", "--all");
    expect(task).toMatchObject({
      description: "clean up",
      result: expect.stringContaining(
        "Deleted 1 release(s), 1 stemcell(s), 0 extra compiled package(s), 0 orphaned disk(s), 0 orphaned vm(s)",
      ),
    });
  });

  it("shows beforehand what --all would delete, and deletes nothing", async () => {
    const { bosh } = world();
    await world().deploy("shop", [{ name: "app", jobs: [{ name: "web", release: "app" }] }]);
    const { rows } = await bosh.run("clean-up", "--all", "--dry-run");
    expect(rows).toEqual(
      expect.arrayContaining([
        { name: "app", version: "3" },
        { name: "other", version: "2" },
        { name: expect.any(String), version: "1.2" },
        expect.objectContaining({ deployment: "shop", disk_cid: expect.stringMatching(/^disk-/) }),
      ]),
    );
    expect(rows).not.toContainEqual({ name: "other", version: "1" });
    expect(await named("releases")).toHaveLength(6);
  });

  it("deletes with --all all that nobody uses, orphaned disks too, unless they are to be kept", async () => {
    const { bosh } = world();
    await bosh.run("clean-up", "--all", "--keep-orphaned-disks");
    expect(await named("releases")).toEqual(["app/4*", "other/1"]);
    expect(await named("stemcells")).toHaveLength(1);
    expect(await bosh.rows("disks", "--orphaned")).toHaveLength(1);
    await bosh.run("clean-up", "--all");
    expect(await bosh.rows("disks", "--orphaned")).toEqual([]);
  });

  it("deletes with --all what is compiled for stemcells that are gone, and leaves no blob behind", async () => {
    const { bosh } = world();
    await bosh.run("-d", "shop", "delete-deployment");
    await bosh.run("delete-config", "--type=runtime", "--name=default");
    const said = await bosh.run("clean-up", "--all");
    expect(said.blocks).toContain("Deleting releases: app/4");
    expect(await named("releases")).toEqual([]);
    expect(await named("stemcells")).toEqual([]);
    await expect.poll(blobs).toEqual([]);
  });
});
