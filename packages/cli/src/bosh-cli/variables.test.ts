import { X509Certificate } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { manifest } from "./testing/documents.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const VARIABLES = [
  {
    name: "web_tls",
    type: "certificate",
    options: { ca: "root", common_name: "web", alternative_names: ["web.internal"] },
  },
  { name: "root", type: "certificate", options: { is_ca: true, common_name: "root", duration: 30 } },
  { name: "pw", type: "password", options: { length: 32 } },
  { name: "rotated", type: "password", update_mode: "overwrite", update: { strategy: "on-stemcell-change" } },
  { name: "key", type: "rsa" },
  { name: "login", type: "ssh" },
  { name: "/shared/ops", type: "user", options: { username: "ops" } },
];
const ENV = {
  pw: "((pw))",
  text: "user ((/shared/ops.username)), pw ((pw))",
  tls: "((web_tls))",
  root: "((root.certificate))",
  key: "((key.public_key))",
  login: "((login.public_key_fingerprint))",
  hash: "((/shared/ops.password_hash))",
  rotated: "((rotated))",
};
interface Env {
  readonly pw: string;
  readonly text: string;
  readonly tls: { readonly ca: string; readonly certificate: string; readonly private_key: string };
  readonly root: string;
  readonly key: string;
  readonly login: string;
  readonly hash: string;
  readonly rotated: string;
}

describe.runIf(await canPlay())("variables that the Director generates, with the real CLI", () => {
  const world = openWorld();
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);
  const deploy = async (more: object = {}, ...flags: readonly string[]) => {
    const document = manifest("shop", { name: "web" }) as { readonly instance_groups: readonly object[] };
    const groups = document.instance_groups.map((group) => ({ ...group, env: ENV }));
    const tags = { owner: "((/shared/ops.username))" };
    const file = { ...document, instance_groups: groups, tags, variables: VARIABLES, ...more };
    return await shop("deploy", await world().file("shop.yml", file), ...flags);
  };
  const vm = async () => (await world().instances("shop"))[0]?.vm_cid ?? "";
  /** Returns the `env` that the VM's agent received. */
  const envOf = async (cid: string): Promise<Env> => {
    const dir = world().cloud("vms", cid);
    for (const name of await readdir(dir, { recursive: true })) {
      const text = await readFile(join(dir, name), "utf8").catch(() => "");
      const found = text.startsWith("{") ? envIn(JSON.parse(text)) : undefined;
      if (found !== undefined) return found;
    }
    throw new Error(`VM ${cid} has no env with variables`);
  };
  const names = async () => (await world().bosh.rows("-d", "shop", "variables")).map(({ name }) => name);

  it("generates them, and the agent gets the values", async () => {
    await world().seed();
    await deploy();
    const env = await envOf(await vm());
    expect(env.pw).toMatch(/^[a-z0-9]{32}$/);
    expect(env.text).toBe(`user ops, pw ${env.pw}`);
    expect([env.key, env.login, env.hash]).toEqual([
      expect.stringMatching(/^-----BEGIN PUBLIC KEY/),
      expect.stringMatching(/^[0-9a-f]{2}(:[0-9a-f]{2}){15}$/),
      expect.stringMatching(/^\$6\$/),
    ]);
    const [leaf, root] = [new X509Certificate(env.tls.certificate), new X509Certificate(env.root)];
    expect([leaf.checkIssued(root), leaf.checkHost("web.internal"), env.tls.ca]).toEqual([
      true,
      "web.internal",
      env.root,
    ]);
  });

  it("lists them without their values", async () => {
    expect(await names()).toEqual([
      "/shared/ops",
      ...["key", "login", "pw", "root", "rotated", "web_tls"].map((name) => `/story/shop/${name}`),
    ]);
    const rows = await world().bosh.rows("-d", "shop", "variables");
    for (const { id } of rows) expect(id).toMatch(/^[0-9a-f-]{36}$/);
    const events = await world().bosh.rows("-d", "shop", "events", "--object-type", "variable");
    expect(events.map(({ action, object_name }) => `${action} ${object_name}`).sort()).toEqual(
      (await names()).map((name) => `create ${name}`).sort(),
    );
  });

  it("keeps its placeholders in the manifest", async () => {
    const { blocks } = await shop("manifest");
    expect(blocks).toContain("((web_tls))");
  });

  it("deploys again: nothing changes", async () => {
    const before = { cid: await vm(), names: await world().bosh.rows("-d", "shop", "variables") };
    await deploy();
    expect({ cid: await vm(), names: await world().bosh.rows("-d", "shop", "variables") }).toEqual(before);
  });

  it("recreates a VM with the values it had", async () => {
    const [cid, before] = [await vm(), await envOf(await vm())];
    await shop("recreate");
    expect(await vm()).not.toBe(cid);
    expect(await envOf(await vm())).toEqual(before);
  });

  it("takes the newest of those that wait for a stemcell when told to", async () => {
    const before = await envOf(await vm());
    await deploy({}, "--recreate");
    expect((await envOf(await vm())).rotated).toBe(before.rotated);
    await deploy({}, "--recreate", "--force-latest-variables");
    const after = await envOf(await vm());
    expect(after.rotated).not.toBe(before.rotated);
    expect({ ...after, rotated: "" }).toEqual({ ...before, rotated: "" });
  });

  it("shows no value to anybody who reads tasks or asks the API", async () => {
    const { pw, tls } = await envOf(await vm());
    const key = tls.private_key.split("\n")[3] ?? "";
    const shown: string[] = [];
    const see = async (...command: readonly string[]) => {
      const { text, rows } = await world().bosh.say(...command);
      shown.push(text, JSON.stringify(rows));
    };
    const tasks = await world().bosh.rows("tasks", "--recent=50", "--all");
    for (const { id = "" } of tasks)
      for (const flag of ["--debug", "--event", "--cpi", "--result"]) await see("task", id, flag);
    for (const path of ["vms", "instances", "variables", "disks", ""])
      await see("curl", `/deployments/shop${path === "" ? "" : `/${path}`}`);
    await see("-d", "shop", "events");
    await see("-d", "shop", "vms", "--cloud-properties");
    expect(tasks.length).toBeGreaterThan(4);
    const all = shown.join("\n");
    for (const secret of [pw, key]) expect(all.includes(secret)).toBe(false);
  });

  it("says all that is missing at once, and changes nothing", async () => {
    const before = await vm();
    const text = await world().bosh.refused(
      ...["-d", "shop", "deploy"],
      await world().file("bad.yml", {
        ...manifest("shop", { name: "web" }),
        tags: { a: "((gone))", b: "((/far/away.key))" },
      }),
    );
    for (const name of ["/story/shop/gone", "/far/away"])
      expect(text).toContain(`Failed to find variable '${name}' from config server: HTTP Code '404'`);
    expect(await vm()).toBe(before);
  });
});

function envIn(value: unknown): Env | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("rotated" in value && "tls" in value) {
    // What the Director adds is another for each VM.
    const { bosh: _, ...env } = value as unknown as Env & { readonly bosh: unknown };
    return env;
  }
  for (const one of Object.values(value)) {
    const found = envIn(one);
    if (found !== undefined) return found;
  }
  return undefined;
}
