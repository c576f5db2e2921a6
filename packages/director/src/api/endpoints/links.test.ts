import type { JsonObject } from "@slipway/protocol/schema/json";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ensureDeployment } from "../../store/deployments.ts";
import { giveDnsIds } from "../../store/dns-ids.ts";
import { saveLinks } from "../../store/links.ts";
import { type Harness, startHarness } from "../testing/harness.ts";

const SECRET = "canary-of-the-link";
const provider = {
  deployment: "data",
  group: "db",
  job: "postgres",
  kind: "job",
  originalName: "db",
  name: "main-db",
  type: "sql",
  shared: true,
  consumable: true,
  custom: false,
  properties: { password: SECRET },
  aliases: [],
  content: {
    deployment_name: "data",
    domain: "bosh",
    default_network: "private",
    networks: ["private", "public"],
    instance_group: "db",
    properties: { password: SECRET },
    instances: [{ name: "db", id: "i", index: 0, addresses: { private: "10.0.0.5", public: "1.2.3.4" } }],
  },
} as const;
const consumer = {
  group: "web",
  job: "app",
  originalName: "database",
  name: "main-db",
  type: "sql",
  optional: true,
  explicit: true,
  blocked: false,
  manual: undefined,
  deployment: undefined,
  network: undefined,
  ipAddresses: undefined,
};

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
  const { id } = await ensureDeployment(api.db, "data");
  const linkProviders = [provider, { ...provider, group: "own", shared: false }];
  const links = [{ name: "database", consumer, provider, content: provider.content }];
  await saveLinks(api.db, id, { linkProviders, linkConsumers: [consumer], links });
  const groups = [{ type: "instance-group", name: "db", deployment: "data" }] as const;
  await giveDnsIds(api.db, { azs: ["z1"], networks: ["private"], groups });
});
afterAll(() => api.close());

const post = (body: unknown) =>
  api.ask("POST", "/links", { type: "application/json", body: JSON.stringify(body) });
const wanted = (more: JsonObject = {}) => ({
  link_provider_id: "1",
  link_consumer: { owner_object: { name: "ext", type: "external" } },
  ...more,
});
const codeOf = ({ status, json }: { status: number; json: unknown }) => [
  status,
  (json as { code: number }).code,
];

describe("links over the API", () => {
  it("are listed with who offers and who consumes them, without what they hold", async () => {
    const providers = await api.get("/link_providers?deployment=data");
    expect(providers.json).toMatchObject([
      {
        id: "1",
        name: "main-db",
        shared: true,
        deployment: "data",
        link_provider_definition: { type: "sql", name: "db" },
        owner_object: { type: "job", name: "postgres", info: { instance_group: "db" } },
      },
      { id: "2", shared: false },
    ]);
    const consumers = await api.get("/link_consumers?deployment=data");
    expect(consumers.json).toEqual([
      {
        id: "1",
        name: "main-db",
        optional: true,
        deployment: "data",
        owner_object: { type: "job", name: "app", info: { instance_group: "web" } },
        link_consumer_definition: { name: "database", type: "sql" },
      },
    ]);
    const links = await api.get("/links?deployment=data");
    expect(links.json).toMatchObject([
      { id: "1", name: "database", link_consumer_id: "1", link_provider_id: "1" },
    ]);
    expect(providers.body + consumers.body + links.body).not.toContain(SECRET);
  });

  it.each(["link_providers", "link_consumers", "links"])(
    "%s are of one deployment that exists",
    async (path) => {
      expect(codeOf(await api.get(`/${path}`))).toEqual([400, 190024]);
      expect(codeOf(await api.get(`/${path}?deployment=none`))).toEqual([404, 70000]);
    },
  );

  it("can be created by an outsider, once for each, until they are deleted", async () => {
    const ids = async () =>
      ((await api.get("/links?deployment=data")).json as { id: string }[]).map(({ id }) => id);
    const made = await post(wanted({ network: "public" }));
    expect(made.status).toBe(200);
    expect(made.body).not.toContain(SECRET);
    expect((await post(wanted({ network: "public" }))).json).toEqual(made.json);
    const [first, other] = [made.json, (await post(wanted())).json] as { id: string }[];
    expect((await post(wanted({ network: "private" }))).json).toEqual(other);
    expect(await ids()).toEqual(["1", first?.id, other?.id]);
    expect((await api.get("/link_consumers?deployment=data")).json).toMatchObject([
      { id: "1" },
      { owner_object: { type: "external", name: "ext" } },
    ]);
    expect((await api.ask("DELETE", `/links/${first?.id}`)).status).toBe(204);
    expect(await ids()).toEqual(["1", other?.id]);
    expect((await api.get("/link_consumers?deployment=data")).json).toHaveLength(2);
    expect((await api.ask("DELETE", `/links/${other?.id}`)).status).toBe(204);
    expect(await ids()).toEqual(["1"]);
    expect((await api.get("/link_consumers?deployment=data")).json).toHaveLength(1);
  });

  it("keeps links of two providers with one name side by side for one consumer", async () => {
    const { id } = await ensureDeployment(api.db, "two");
    const linkProviders = ["a", "b"].map((group) => ({ ...provider, deployment: "two", group }));
    await saveLinks(api.db, id, { linkProviders, linkConsumers: [], links: [] });
    const { json } = await api.get("/link_providers?deployment=two");
    for (const one of json as { id: string }[]) await post(wanted({ link_provider_id: one.id }));
    expect((await api.get("/links?deployment=two")).json).toHaveLength(2);
  });

  it("are had only of a provider that is shared, on a network it has", async () => {
    for (const [more, says] of [
      [{ link_provider_id: "9" }, "Invalid link_provider_id: 9"],
      [{ link_provider_id: "2" }, "Provider not `shared`"],
      [{ network: "moon" }, "Can't resolve network: `moon`"],
    ] as const) {
      const { status, body } = await post(wanted(more));
      expect([status, body]).toEqual([400, expect.stringContaining(says)]);
    }
  });

  it("cannot be deleted if they are of jobs, or do not exist", async () => {
    expect((await api.ask("DELETE", "/links/1")).body).toContain("not a external link");
    expect(codeOf(await api.ask("DELETE", "/links/77"))).toEqual([404, 810000]);
    expect(codeOf(await api.ask("DELETE", "/links/x"))).toEqual([404, 810000]);
  });

  it("have an address for all their instances, or for those asked for", async () => {
    const address = async (query: string) => (await api.get(`/link_address?link_id=1${query}`)).json;
    expect(await address("")).toEqual({ address: "q-s0.db.private.data.bosh" });
    expect(await address("&azs[]=z1&status=healthy")).toEqual({ address: "q-a1s3.db.private.data.bosh" });
    expect(codeOf(await api.get("/link_address?link_id=9"))).toEqual([404, 810000]);
  });

  it("have no address in an unknown zone, with an unknown status or without an id, as upstream says", async () => {
    const refusal = async (query: string) => {
      const answer = await api.get(`/link_address?${query}`);
      return [...codeOf(answer), (answer.json as { description: string }).description.split(". ", 1)[0]];
    };
    expect(await refusal("link_id=1&azs[]=moon")).toEqual([400, 810008, "az moon is not valid"]);
    expect(await refusal("link_id=1&status=odd")).toEqual([
      400,
      810007,
      'status must be a one of: ["healthy", "unhealthy", "all", "default"]',
    ]);
    expect(await refusal("")).toEqual([400, 810006, "Link id is required"]);
  });
});

describe("external links of two teams", () => {
  let teams: Harness;
  beforeAll(async () => {
    teams = await startHarness({
      users: ["a", "b", "c"].map((team) => ({
        ...{ name: team, password: `${team}-pw`, scopes: [`bosh.teams.${team}.admin`] },
      })),
    });
    const { id } = await ensureDeployment(teams.db, "data", ["a"]);
    const linkProviders = [provider, { ...provider, group: "own", shared: false }];
    await saveLinks(teams.db, id, { linkProviders, linkConsumers: [], links: [] });
  });
  afterAll(() => teams.close());
  const make = (team: string, more: JsonObject = {}) =>
    teams.ask("POST", "/links", {
      ...{ type: "application/json", body: JSON.stringify(wanted(more)), user: team },
    });
  const remove = async (team: string, id: string) =>
    (await teams.ask("DELETE", `/links/${id}`, { user: team })).status;
  const idOf = ({ json }: { readonly json: unknown }) => (json as { id: string }).id;

  it("are deleted by the team that made them and by the team that offers them, and by no other", async () => {
    const first = idOf(await make("b"));
    expect(await remove("c", first)).toBe(404);
    expect(await remove("b", first)).toBe(204);
    const second = idOf(await make("b"));
    expect(await remove("c", second)).toBe(404);
    expect(await remove("a", second)).toBe(204);
  });

  it("are not replaced by a team that asks for one under the same name", async () => {
    const first = idOf(await make("b"));
    const refused = await make("c");
    expect([refused.status, refused.body]).toEqual([400, expect.stringContaining("belongs to another team")]);
    expect((await make("b")).status).toBe(200);
    expect(await remove("c", first)).toBe(404);
    expect(
      (await make("c", { link_consumer: { owner_object: { name: "own", type: "external" } } })).status,
    ).toBe(200);
  });

  it("do not tell another team that a provider which is not shared is there", async () => {
    const [hidden, none] = [
      await make("b", { link_provider_id: "2" }),
      await make("b", { link_provider_id: "9" }),
    ];
    expect([hidden.status, hidden.body.replace("2", "9")]).toEqual([none.status, none.body]);
    expect((await make("a", { link_provider_id: "2" })).body).toContain("Provider not `shared`");
  });
});
