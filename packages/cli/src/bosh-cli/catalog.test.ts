import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import { cloudConfig } from "./testing/documents.ts";
import { canPlay } from "./testing/requirements.ts";
import { type MadeStemcell, makeStemcell } from "./testing/stemcell.ts";
import { ADMIN, openWorld, READER } from "./testing/world.ts";

describe.runIf(await canPlay())("who may do what, stemcells and configs, with the real CLI", () => {
  const world = openWorld();

  /** The file at an address of loopback, until the test is over. */
  async function served({ file }: MadeStemcell): Promise<string> {
    const body = await readFile(file);
    const server = createServer((_, response) => response.end(body));
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
    onTestFinished(() => new Promise<void>((resolve) => server.close(() => resolve())));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}/stemcell.tgz`;
  }

  it("shows the environment, to those who are not logged in too", async () => {
    const { bosh } = world();
    const known = {
      name: "story",
      cpi: "cpi",
      uuid: expect.stringMatching(/^[0-9a-f-]{36}$/),
    };
    expect(await bosh.rows("env")).toEqual([expect.objectContaining({ ...known, user: "admin" })]);
    const [row] = await bosh.as(undefined, undefined).rows("env");
    expect(row).toMatchObject({ ...known, user: "(not logged in)" });
  });

  it("logs in with the right password only, and stays logged in", async () => {
    const { bosh } = world();
    const flags = (password: string) => [`--client=${ADMIN.name}`, `--client-secret=${password}`];
    const nobody = bosh.as(undefined, undefined);
    expect(await nobody.refused("log-in", ...flags("wrong"))).toContain("Invalid credentials");
    expect(await nobody.refused("deployments")).toContain("401");
    const welcome = await nobody.run("log-in", ...flags(ADMIN.password));
    expect(welcome.text).toContain("Logged in to");
    expect((await nobody.rows("env"))[0]?.user).toBe(ADMIN.name);
    expect(await nobody.rows("deployments")).toEqual([]);
    expect(await bosh.as(ADMIN.name, "wrong").refused("deployments")).toContain("401");
  });

  it("takes a stemcell from a file, once", async () => {
    const { bosh, dir, gate } = world();
    const made = await makeStemcell(dir, "1.0");
    const said = await bosh.run("upload-stemcell", made.file);
    expect(said.blocks).toContain("Update stemcell: Extracting stemcell archive");
    expect(await bosh.rows("stemcells")).toEqual([
      { name: "story", version: "1.0", os: "local", cpi: "", cid: expect.stringMatching(/^stemcell-/) },
    ]);
    expect((await bosh.run("upload-stemcell", made.file)).text).toContain("already exists");
    const created = (await gate.calls()).filter((method) => method === "create_stemcell");
    expect(created).toHaveLength(1);
  });

  it("takes a stemcell from a URL, if its digest is the one that was told", async () => {
    const { bosh, dir } = world();
    const made = await makeStemcell(dir, "2.0");
    const url = await served(made);
    expect(await bosh.refused("upload-stemcell", url, `--sha1=${"0".repeat(40)}`)).toMatch(/sha1|digest/i);
    const said = await bosh.run("upload-stemcell", url, `--sha1=${made.sha1}`);
    expect(said.blocks).toContain("Update stemcell: Downloading remote stemcell");
    const versions = (await bosh.rows("stemcells")).map(({ version }) => version);
    expect(versions.sort()).toEqual(["1.0", "2.0"]);
  });

  it("deletes a stemcell, from the cloud too", async () => {
    const { bosh, gate } = world();
    const said = await bosh.run("delete-stemcell", "story/2.0");
    expect(said.blocks).toContain("Deleting stemcell from cloud: story/2.0");
    expect((await bosh.rows("stemcells")).map(({ version }) => version)).toEqual(["1.0"]);
    expect((await gate.calls()).at(-1)).toBe("delete_stemcell");
    expect((await bosh.run("delete-stemcell", "story/2.0")).code).toBe(0);
  });

  it("says what is missing before a first deploy", async () => {
    const { bosh } = world();
    const said = await bosh.refused("-d", "shop", "deploy", await world().manifest("shop", { name: "db" }));
    expect(said).toContain("bosh update-cloud-config");
    await bosh.run("-d", "shop", "delete-deployment");
  });

  it("keeps every version of a config and shows what a new one changes", async () => {
    const { bosh, net } = world();
    const first = await world().file("cloud.yml", cloudConfig(net));
    const shown = await bosh.run("update-cloud-config", first);
    expect(shown.lines.join("")).toContain("+ azs:\n+ - name: z1\n");
    const more = { ...cloudConfig(net), azs: [{ name: "z1" }, { name: "z2" }] };
    const changed = (await bosh.run("update-cloud-config", await world().file("more.yml", more))).lines.join(
      "",
    );
    expect(changed).toContain("  azs:\n+ - name: z2\n");
    expect(changed).not.toContain("vm_types");
    await bosh.run("update-cloud-config", await world().file("more.yml", more));
    const configs = await bosh.rows("configs");
    expect(configs).toEqual([
      {
        id: "2*",
        type: "cloud",
        name: "default",
        team: "",
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC$/),
      },
    ]);
    expect((await bosh.rows("configs", "--recent=5")).map(({ id }) => id)).toEqual(["2*", "1"]);
    const [old] = await bosh.rows("config", "1");
    expect(old).toMatchObject({ id: "1", type: "cloud", name: "default" });
    expect(old?.content).not.toContain("z2");
    const [current] = await bosh.rows("config", "--type=cloud", "--name=default");
    expect(current?.content).toContain("- name: z2");
    expect((await bosh.run("cloud-config")).blocks).toBe(current?.content);
    expect(await bosh.refused("config", "77")).toMatch(/no config/i);
    const list = await world().file("list.yml", ["azs"]);
    expect(await bosh.refused("update-cloud-config", list)).toMatch(/440001/);
    expect(await bosh.rows("configs")).toEqual(configs);
  });

  it("lets a read-only user look and not touch", async () => {
    const { bosh } = world();
    const reader = bosh.as(READER.name, READER.password);
    expect((await reader.rows("env"))[0]?.user).toBe(READER.name);
    expect(await reader.rows("stemcells")).toHaveLength(1);
    expect(await reader.rows("deployments")).toEqual([]);
    expect(await reader.rows("configs")).toHaveLength(1);
    expect(await reader.rows("locks")).toEqual([]);
    const task = (await reader.rows("tasks", "--recent")).find(({ state }) => state === "done");
    expect((await reader.run("task", task?.id ?? "", "--event")).blocks).toContain('"state":"finished"');
    const refused = [
      ["task", task?.id ?? "", "--debug"],
      ["-d", "shop", "deploy", await world().manifest("shop")],
      ["update-cloud-config", await world().file("cloud.yml", cloudConfig(world().net))],
      ["delete-stemcell", "story/1.0"],
    ];
    for (const command of refused) expect(await reader.refused(...command)).toMatch(/401/);
    expect(await bosh.rows("stemcells")).toHaveLength(1);
    expect(await bosh.rows("deployments")).toEqual([]);
  });
});
