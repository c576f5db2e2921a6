import { readdir } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())("snapshots with the real CLI", () => {
  const world = openWorld({ director: { enable_snapshots: true } });
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);
  const listed = () => world().bosh.rows("-d", "shop", "snapshots");
  const kept = () => readdir(world().cloud("snapshots")).catch(() => []);

  it("are taken of all disks, and of one", async () => {
    await world().seed();
    await world().deploy("shop", [{ name: "db", instances: 2, disk: "small" }, { name: "web" }]);
    await shop("take-snapshot");
    expect(await listed()).toHaveLength(2);
    await shop("take-snapshot", "db/1");
    const rows = await listed();
    expect(rows.map(({ instance }) => instance).sort()).toEqual(["db/0", "db/1", "db/1"]);
    expect(rows[0]).toMatchObject({ clean: "false", cid: expect.stringMatching(/./) });
    expect(await kept()).toHaveLength(3);
    expect(await world().bosh.refused("-d", "shop", "take-snapshot", "db/7")).toContain(
      "db/7' doesn't exist",
    );
  });

  it("are deleted one by one, and all", async () => {
    const [first] = await listed();
    await shop("delete-snapshot", first?.cid ?? "");
    expect(await listed()).toHaveLength(2);
    expect(await kept()).toHaveLength(2);
    await shop("delete-snapshots");
    expect(await listed()).toEqual([]);
    expect(await kept()).toEqual([]);
  });

  it("are taken before an instance is updated, and while nothing writes to its disk", async () => {
    await shop("recreate", "db/0");
    expect(await listed()).toMatchObject([{ instance: "db/0", clean: "true" }]);
    await shop("delete-snapshots");
    expect(await kept()).toEqual([]);
  });

  it("stay with a disk that is orphaned, and go with it", async () => {
    await shop("take-snapshot", "db/0");
    await shop("delete-deployment");
    expect(await kept()).toHaveLength(1);
    for (const { disk_cid: cid } of await world().bosh.rows("disks", "--orphaned"))
      await world().bosh.run("delete-disk", cid ?? "");
    expect(await kept()).toEqual([]);
  });
});

describe.runIf(await canPlay())("a Director that takes no snapshots, with the real CLI", () => {
  const world = openWorld();

  it("says so, and takes none", async () => {
    await world().seed();
    await world().deploy("shop", [{ name: "db", disk: "small" }]);
    const { blocks } = await world().bosh.run("-d", "shop", "take-snapshot");
    expect(blocks).toContain("snapshots are disabled");
    expect(await world().bosh.rows("-d", "shop", "snapshots")).toEqual([]);
  });
});
