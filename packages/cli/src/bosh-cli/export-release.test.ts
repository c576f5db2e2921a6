import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../testing/run-cli.ts";
import { writeAppRelease } from "./testing/app-release.ts";
import { canPlay } from "./testing/requirements.ts";
import { ADMIN, openWorld } from "./testing/world.ts";

describe.runIf(await canPlay())("exported releases, with the real CLI", () => {
  const world = openWorld();
  const GROUP = { name: "app", disk: "small" as const, jobs: [{ name: "counter", release: "app" }] };
  const STEMCELL = "local/1.0";
  const releaseOf = async () => {
    const [{ version = "" } = {}] = await world().bosh.rows("releases");
    return `app/${version.replace("*", "")}`;
  };
  const archives = async () => (await readdir(world().dir)).filter((name) => /app-0.*\.tgz$/.test(name));
  const compiledFor = async () =>
    (await world().bosh.run("inspect-release", await releaseOf())).rows.flatMap(
      (row) => row.compiled_for ?? [],
    );

  it("are of a deployment that uses them, and for a stemcell that is there", async () => {
    const { bosh, dir } = world();
    await world().seed();
    await writeAppRelease(join(dir, "app"));
    await bosh.run("create-release", "--force", `--dir=${join(dir, "app")}`);
    await bosh.run("upload-release", `--dir=${join(dir, "app")}`);
    await world().deploy("shop", [{ name: "idle" }]);
    const release = await releaseOf();
    expect(await bosh.refused("-d", "shop", "export-release", release, STEMCELL)).toContain(
      `Release version '${release}' not found in deployment 'shop' manifest`,
    );
    await world().deploy("shop", [GROUP]);
    expect(await bosh.refused("-d", "shop", "export-release", release, "local/9")).toContain("local/9");
    expect(await bosh.refused("-d", "shop", "export-release", "app/7", STEMCELL)).toContain("'7'");
    expect(await bosh.refused("-d", "none", "export-release", release, STEMCELL)).toContain("'none'");
  });

  it("hold what is compiled already, and nothing is compiled again", async () => {
    const { bosh, dir } = world();
    const said = await bosh.run("-d", "shop", "export-release", await releaseOf(), STEMCELL, `--dir=${dir}`);
    expect(said.blocks).not.toContain("Compiling packages");
    expect(said.blocks).toMatch(/copying packages: base\/[0-9a-f]{64}/);
    expect(said.blocks).toMatch(/copying packages: greeting\/[0-9a-f]{64}/);
    expect(said.blocks).toMatch(/copying jobs: counter\/[0-9a-f]{64}/);
    const [name = ""] = await archives();
    expect(name).toMatch(/^app-0\+dev\.1-local-1\.0-\d{8}-\d{6}/);
    const { rows } = await bosh.run("inspect-local-release", join(dir, name));
    expect(rows).toMatchObject([
      { name: "app", version: "0+dev.1" },
      { job: expect.stringMatching(/^counter\//) },
      { package: expect.stringMatching(/^base\//), os: "local", os_version: "1.0" },
      { package: expect.stringMatching(/^greeting\//), dependencies: "base" },
    ]);
  });

  it("are downloaded by slipway as well, and are the same", async () => {
    const { dir, director } = world();
    const to = join(dir, "home");
    const ran = await runCli(
      ["-d", "shop", "export-release", await releaseOf(), STEMCELL, "--dir", to, "--job", "counter"],
      {
        env: {
          BOSH_ENVIRONMENT: director.url,
          BOSH_CA_CERT: await readFile(world().state("pki", "ca.crt"), "utf8"),
          BOSH_CLIENT: ADMIN.name,
          BOSH_CLIENT_SECRET: ADMIN.password,
        },
      },
    );
    expect(ran).toMatchObject({ code: 0, err: "" });
    const [name = ""] = (await readdir(to)).filter((one) => one.endsWith(".tgz"));
    expect(name).toMatch(/^counter-app-0\+dev\.1-local-1\.0-\d{8}-\d{6}-\d{3}\.tgz$/);
    const { rows } = await world().bosh.run("inspect-local-release", join(to, name));
    expect(rows).toHaveLength(4);
  });

  it("are deployed without compiling, where the sources are gone", async () => {
    const { bosh, dir } = world();
    await bosh.run("-d", "shop", "delete-deployment");
    await bosh.run("delete-release", "app");
    const [name = ""] = await archives();
    const said = await bosh.run("upload-release", join(dir, name));
    expect(said.blocks).toContain("Compiled Release has been created: app/0+dev.1");
    expect(await compiledFor()).toEqual(["(source)", "local/1.0", "(source)", "local/1.0"]);
    const { blocks } = await world().deploy("shop", [GROUP]);
    expect(blocks).not.toContain("Compiling packages");
    const [instance] = await world().instances("shop");
    const log = await readFile(world().disk(String(instance?.disk_cids), "counter", "log"), "utf8");
    expect(log).toContain("from a package");
  });

  it("that came compiled are exported again for that stemcell", async () => {
    const { bosh, dir } = world();
    const again = await bosh.run("-d", "shop", "export-release", await releaseOf(), STEMCELL, `--dir=${dir}`);
    expect(again.blocks).not.toContain("Compiling packages");
    expect(await archives()).toHaveLength(2);
    const some = ["export-release", await releaseOf(), STEMCELL, "--job=counter", `--dir=${dir}`];
    expect((await bosh.run("-d", "shop", ...some)).blocks).toMatch(/copying jobs: counter/);
    expect(await archives()).toHaveLength(3);
    const none = ["export-release", await releaseOf(), STEMCELL, "--job=nobody", `--dir=${dir}`];
    expect(await bosh.refused("-d", "shop", ...none)).toContain("nobody");
  });
});
