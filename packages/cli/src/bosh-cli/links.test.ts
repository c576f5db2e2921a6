import { X509Certificate } from "node:crypto";
import { readFile } from "node:fs/promises";
import { eventually } from "@slipway/testkit/eventually";
import { describe, expect, it } from "vitest";
import { type Group, manifest } from "./testing/documents.ts";
import { LINKS_RELEASE } from "./testing/links-release.ts";
import { uploadRelease } from "./testing/make-release.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

const PASSWORD = [{ name: "pw", type: "password", options: { length: 24 } }];
/** Certificates with the names of the instances behind a link. */
const TLS = [
  { name: "ca", type: "certificate", options: { is_ca: true, common_name: "ca" } },
  {
    name: "tls",
    type: "certificate",
    options: { ca: "ca" },
    consumes: {
      common_name: { from: "where" },
      alternative_name: { from: "where", properties: { wildcard: true } },
    },
  },
];
const PEEK = [{ name: "peek", type: "peeker", properties: ["port"] }];

/** `store` as other deployments may use it. */
const store = (port: number) => ({
  name: "store",
  release: "linked",
  properties: { port, password: "((pw))" },
  provides: { db: { as: "main", shared: true }, peek: { shared: true } },
  custom_provider_definitions: PEEK,
});
const front = (name: string, consumes: object): Group => ({
  name,
  jobs: [{ name: "front", release: "linked", consumes }],
});
const main = (more: object = {}) => ({ from: "main", deployment: "data", ...more });

interface Reply {
  readonly db?: { address: string; instances: readonly string[]; port: number; password: string };
  readonly peek?: { port: number; hidden: string };
}

describe.runIf(await canPlay())("links between deployments, with the real CLI", () => {
  const world = openWorld({ localDns: { enabled: true } });

  const deploy = async (
    name: string,
    groups: readonly Group[],
    more: object = {},
    ...flags: readonly string[]
  ) =>
    await world().bosh.run(
      ...["-d", name, "deploy"],
      await world().file(`${name}.yml`, { ...manifest(name, ...groups), ...more }),
      ...flags,
    );
  const data = (instances: number, port: number, more: object = {}) =>
    deploy("data", [{ name: "db", instances, jobs: [store(port)] }], { variables: PASSWORD, ...more });
  const SHOP = [
    front("web", { db: main(), peek: { deployment: "data" } }),
    front("named", { db: main({ ip_addresses: false }) }),
    front("without", { db: "nil" }),
    front("byhand", {
      db: { instances: [{ address: "192.0.2.7" }], properties: { port: 7 }, address: "db.example.com" },
    }),
  ];

  const instances = async (deployment: string, group: string) =>
    (await world().instances(deployment)).filter(({ instance = "" }) => instance.startsWith(`${group}/`));
  const inVm = async (deployment: string, group: string, ...path: readonly string[]) => {
    const [one] = await instances(deployment, group);
    return await readFile(world().cloud("vms", one?.vm_cid ?? "", "vcap", ...path), "utf8");
  };
  /** Returns the links that a job of the group's first instance received at each of its starts. */
  const told = async (deployment: string, group: string, job = "front") =>
    (await inVm(deployment, group, "data", "sys", "log", job, "told"))
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Reply & Record<string, unknown>);
  const last = async (deployment: string, group: string) => (await told(deployment, group)).at(-1);
  const ips = async (deployment: string, group: string) =>
    (await instances(deployment, group)).map(({ ips = "" }) => ips).sort();
  const ids = async (deployment: string, group: string) =>
    (await instances(deployment, group)).map(({ instance = "" }) => instance.slice(group.length + 1));

  const curl = async <T>(path: string, ...flags: readonly string[]): Promise<T> =>
    JSON.parse((await world().bosh.run("curl", path, ...flags)).blocks) as T;

  it("are shared by one deployment, and others read what their provider tells, secrets too", async () => {
    await world().seed();
    expect((await curl<{ features: object }>("/info")).features).toMatchObject({
      local_dns: { status: true },
    });
    await uploadRelease(world(), "linked", LINKS_RELEASE);
    await data(2, 5432);
    await deploy("shop", SHOP);
    const web = await last("shop", "web");
    expect(web?.db?.instances.toSorted()).toEqual(await ips("data", "db"));
    expect(web?.db).toMatchObject({ address: "q-s0.db.private.data.bosh", port: 5432 });
    expect(web?.db?.password).toMatch(/^[a-z0-9]{24}$/);
    expect(web?.peek).toEqual({ port: 5432, hidden: "hidden" });
  });

  it("have names instead of addresses where the consumer wants them", async () => {
    const names = (await ids("data", "db")).map((id) => `${id}.db.private.data.bosh`);
    expect((await last("shop", "named"))?.db?.instances.toSorted()).toEqual(names.sort());
  });

  it("may be left out, or be written by hand", async () => {
    expect(await last("shop", "without")).toEqual({});
    expect((await last("shop", "byhand"))?.db).toEqual({
      address: "db.example.com",
      instances: ["192.0.2.7"],
      port: 7,
      password: "none",
    });
  });

  it("are listed, with who provides and who consumes them", async () => {
    expect(await curl("/link_providers?deployment=data")).toMatchObject([
      { name: "peek", shared: true, owner_object: { type: "job", name: "store" } },
      { name: "main", shared: true, link_provider_definition: { name: "db", type: "sql" } },
    ]);
    const consumers = await curl<{ id: string; owner_object: object }[]>("/link_consumers?deployment=shop");
    expect(consumers).toHaveLength(8);
    const links = await curl<{ name: string; link_provider_id: string }[]>("/links?deployment=shop");
    expect(links.map(({ name }) => name).sort()).toEqual(["db", "db", "db", "peek"]);
  });

  it("are given to somebody outside, with an address, until they are taken away", async () => {
    const providers = await curl<{ id: string; name: string }[]>("/link_providers?deployment=data");
    const body = await world().file("link.json", {
      link_provider_id: providers.find(({ name }) => name === "main")?.id,
      link_consumer: { owner_object: { name: "laptop", type: "external" } },
    });
    const made = await curl<{ id: string }>(
      "/links",
      "--method=POST",
      "--header=Content-Type: application/json",
      `--body=${body}`,
    );
    expect(await curl(`/link_address?link_id=${made.id}`)).toEqual({ address: "q-s0.db.private.data.bosh" });
    expect(await curl(`/link_address?link_id=${made.id}&azs[]=z1&status=healthy`)).toEqual({
      address: expect.stringMatching(/^q-a\d+s3\.db\.private\.data\.bosh$/),
    });
    const before = await curl<unknown[]>("/links?deployment=data");
    await data(2, 5432);
    expect(await curl("/links?deployment=data")).toEqual(before);
    await world().bosh.run("curl", `/links/${made.id}`, "--method=DELETE");
    expect(await curl("/links?deployment=data")).toEqual([]);
  });

  it("bring a provider's new property to its consumers with their next deploy; a dry run says so", async () => {
    const starts = (await told("shop", "web")).length;
    await data(2, 6000);
    expect(await told("shop", "web")).toHaveLength(starts);
    const { blocks } = await deploy("shop", SHOP, {}, "--dry-run");
    expect(blocks).toMatch(/web\/\S+ \(0\): template config\/told\.json of front changed/);
    expect(blocks).toContain("2 instances unchanged");
    expect(await told("shop", "web")).toHaveLength(starts);
    await deploy("shop", SHOP);
    expect((await last("shop", "web"))?.db?.port).toBe(6000);
    expect(await told("shop", "without")).toHaveLength(1);
    expect(await told("shop", "byhand")).toHaveLength(1);
  });

  it("are not needed to know where instances of other deployments are", async () => {
    const records = async () =>
      JSON.parse(await inVm("shop", "web", "instance", "dns", "records.json")) as {
        version: number;
        records: [string, string][];
      };
    const before = await records();
    await data(3, 6000);
    const now = await eventually("the third instance's name", async () => {
      const found = await records();
      return found.version > before.version ? found : undefined;
    });
    const expected = await Promise.all(
      (await instances("data", "db")).map(({ instance = "", ips: ip }) => [
        ip,
        `${instance.slice("db/".length)}.db.private.data.bosh`,
      ]),
    );
    expect(expected).toHaveLength(3);
    expect(now.records).toEqual(expect.arrayContaining(expected));
  });

  it("are short names where the provider's deployment has short names", async () => {
    await data(2, 6000, { features: { use_dns_addresses: true, use_short_dns_addresses: true } });
    await deploy("shop", SHOP);
    const db = (await last("shop", "web"))?.db;
    expect(db?.address).toMatch(/^q-n\d+s0\.q-g\d+\.bosh$/);
    for (const one of db?.instances ?? []) expect(one).toMatch(/^q-m\d+n\d+s0\.q-g\d+\.bosh$/);
    const [own] = (await told("data", "db", "store")).slice(-1);
    expect(db?.instances).toContain(own?.address);
  });

  it("are refused when nobody provides them, and nothing changes", async () => {
    const starts = (await told("shop", "web")).length;
    const said = await world().bosh.refused(
      ...["-d", "shop", "deploy"],
      await world().manifest("shop", front("web", { db: main({ from: "other" }) })),
    );
    const words = said.replaceAll(/\s+/g, " ");
    expect(words).toContain(
      "Failed to resolve link 'db' with alias 'other' and type 'sql' from job 'front' in instance group 'web'. Details below: - No link providers found",
    );
    expect(await told("shop", "web")).toHaveLength(starts);
  });

  it("do not keep addons from bringing jobs to some groups and not to others", async () => {
    const runtime = {
      releases: [{ name: "linked", version: "0+dev.1" }],
      addons: [
        {
          name: "guards",
          jobs: [{ name: "guard", release: "linked", properties: { of: "fronts" } }],
          include: { deployments: ["shop"], jobs: [{ name: "front", release: "linked" }] },
          exclude: { instance_groups: ["without"] },
        },
      ],
    };
    await world().bosh.run("update-runtime-config", await world().file("runtime.yml", runtime));
    await deploy("shop", SHOP);
    for (const group of ["web", "named", "byhand"])
      expect(await told("shop", group, "guard")).toEqual([{ of: "fronts" }]);
    await expect(told("shop", "without", "guard")).rejects.toThrow("ENOENT");
    await data(2, 6000, { features: { use_dns_addresses: true, use_short_dns_addresses: true } });
    await expect(told("data", "db", "guard")).rejects.toThrow("ENOENT");
  });

  it("give their names to certificates, in the deployment that provides them", async () => {
    const where = { name: "where", type: "address" };
    const properties = { password: "x", certificate: "((tls.certificate))" };
    const job = { name: "store", release: "linked", properties, custom_provider_definitions: [where] };
    await deploy("vault", [{ name: "db", jobs: [job] }], { variables: TLS });
    const [{ certificate } = {}] = await told("vault", "db", "store");
    const made = new X509Certificate(String(certificate));
    expect(made.subject).toContain("CN=q-s0.db.private.vault.bosh");
    expect(made.checkHost("anything.db.private.vault.bosh")).toBe("*.db.private.vault.bosh");
    expect(await curl("/link_consumers?deployment=vault")).toMatchObject(
      Array(2).fill({ owner_object: { type: "variable", name: "tls" } }),
    );
    await deploy("vault", [{ name: "db", jobs: [job] }], { variables: TLS });
    expect(await told("vault", "db", "store")).toHaveLength(1);
  });

  it("follow a group to its new name with its jobs and VMs", async () => {
    const before = await instances("shop", "web");
    const [, ...others] = SHOP;
    const site = {
      ...manifest("shop", front("site", { db: main(), peek: { deployment: "data" } }), ...others),
    } as {
      instance_groups: object[];
    };
    site.instance_groups[0] = { ...site.instance_groups[0], migrated_from: [{ name: "web" }] };
    await world().bosh.run("-d", "shop", "deploy", await world().file("shop.yml", site));
    const after = await instances("shop", "site");
    expect(after.map(({ instance = "" }) => instance.slice("site/".length))).toEqual(
      before.map(({ instance = "" }) => instance.slice("web/".length)),
    );
    expect((await last("shop", "site"))?.db?.port).toBe(6000);
    expect((await last("shop", "site"))?.peek?.port).toBe(6000);
  });
});
