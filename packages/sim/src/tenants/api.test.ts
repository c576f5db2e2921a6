import { routes } from "@slipway/director/api/routes";
import { sampleOf } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Leak, leakOf, type Named, requestsTo, type SweepCall } from "./testing/sweep.ts";
import {
  A,
  B,
  CANARY,
  done,
  OTHERS,
  type TwoTeams,
  twoTeams,
  uploadTenantRelease,
} from "./testing/two-teams.ts";

const GROUP = `${CANARY}-group`;
const CONFIG = `${CANARY}-config`;
const OF_A = {
  name: A,
  group: GROUP,
  password: `((${CANARY}-variable))`,
  consumes: { from: `${GROUP}-link` },
  variables: [`${CANARY}-variable`, "/outside"].map((name) => ({ name, type: "password" })),
  tags: { note: `${CANARY}-tag` },
};

let director: TwoTeams;
let ask: SweepCall;
let named: Named;

beforeAll(async () => {
  director = await twoTeams();
  const { api, deploy, task } = director;
  ask = (method, path, sent) => api.ask(method, path, sent);
  done(await uploadTenantRelease(director));
  const content = JSON.stringify({ vm_types: [{ name: `${CANARY}-type`, cloud_properties: { x: CONFIG } }] });
  const config = { type: "cloud", name: CONFIG, content };
  const sent = { user: "ada", type: "application/json", body: JSON.stringify(config) };
  const saved = (await api.ask("POST", "/configs", sent)).json as { id: string };
  const tasks = [
    await deploy("ada", { ...OF_A, code: `raise "${CANARY}-failure " + p("password")` }, "?dry_run=true"),
    done(await deploy("ada", OF_A)),
    done(await task("ada", "GET", `/deployments/${A}/jobs/${GROUP}/0/logs?type=job`)),
    done(await task("ada", "POST", `/deployments/${A}/snapshots`)),
    done(await task("ada", "GET", `/deployments/${A}/vms?format=full`)),
    done(await task("ada", "POST", `/deployments/${A}/scans`)),
  ];
  done(await deploy("bob", { name: B, group: "web", password: "of b" }));
  // A dry run says what its templates say: its team learns the password.
  const [, password = ""] = new RegExp(`${CANARY}-failure (\\w{10,})`).exec(tasks[0]?.said ?? "") ?? [];
  const logs = tasks[2]?.result ?? "";
  const read = async <T>(path: string) => (await api.get(path)).json as T;
  const [instance] = await read<{ id: string; disk_cids: string[]; cid: string }[]>(
    `/deployments/${A}/instances`,
  );
  const ids = async (path: string) =>
    (await read<{ id: string | number }[]>(path)).map(({ id }) => String(id));
  const links = await ids(`/links?deployment=${A}`);
  named = {
    deployment: A,
    group: GROUP,
    uuid: instance?.id ?? "",
    vm: [...director.world.vms.keys()][0] ?? "",
    disk: [...director.world.disks.keys()][0] ?? "",
    config: CONFIG,
    variables: [`/sim/${A}/${CANARY}-variable`, "/outside"],
    ids: [
      ...tasks.map(({ id }) => id),
      ...[saved.id, logs, ...links],
      ...(await ids(`/link_providers?deployment=${A}`)),
      ...(await ids(`/events?deployment=${A}`)).slice(0, 2),
    ],
    generated: [password, (await api.get(`/resources/${logs}`, "ada")).body],
  };
  expect(links).not.toEqual([]);
  expect(named.generated.map(({ length }) => length >= 10)).toEqual([true, true]);
});
afterAll(() => director.close());

const nameOf = ({ method, path, body }: (typeof routes)[number]) => `${method} ${path} (${body})`;

describe("the API, for users of another team,", () => {
  it.each(
    sampleOf("routes", routes, Math.ceil(routes.length / 3)).map((route) => [nameOf(route), route] as const),
  )("shows nothing of a team at %s", async (_, route) => {
    const leaks: (Leak | undefined)[] = [];
    for (const request of requestsTo(route, named))
      for (const user of OTHERS) leaks.push(await leakOf(ask, request, user, named));
    expect(leaks.filter((leak) => leak !== undefined)).toEqual([]);
  });

  it("does not reveal links and unshared providers of a team", async () => {
    const idsOf = async (path: string) =>
      ((await director.api.get(`${path}?deployment=${A}`)).json as { id: string }[]).map(({ id }) => id);
    const answer = async (method: string, path: string, body?: object) => {
      const sent = body && { type: "application/json", body: JSON.stringify(body) };
      const { status, json } = await director.api.ask(method, path, { user: "bob", ...sent });
      return [status, (json as { code: number }).code];
    };
    for (const id of await idsOf("/links"))
      expect(await answer("DELETE", `/links/${id}`)).toEqual(await answer("DELETE", "/links/999999"));
    const wanted = (id: string) => ({
      ...{ link_provider_id: id, link_consumer: { owner_object: { name: "ext", type: "external" } } },
    });
    for (const id of await idsOf("/link_providers"))
      expect(await answer("POST", "/links", wanted(id))).toEqual(
        await answer("POST", "/links", wanted("999999")),
      );
  });

  it("changes nothing of a team", async () => {
    for (const path of [`/deployments/${A}`, `/deployments/${A}/instances`, `/configs?name=${CONFIG}`])
      expect((await director.api.get(path, "ada")).body.toLowerCase()).toContain(CANARY);
    expect(director.world.violations).toEqual([]);
  });
});

it("a VM of another team gets nothing of the team but names and addresses in DNS", async () => {
  const ofB = [...director.world.vms.values()].filter((vm) => JSON.stringify(vm.metadata).includes(B));
  expect(ofB).toHaveLength(1);
  for (const { metadata, networks, agent } of ofB) {
    const { spec, hints, links, blobs } = agent;
    const told = JSON.stringify([metadata, networks, spec, [...hints], [...links], [...blobs]]);
    expect(told.toLowerCase()).not.toContain(CANARY);
    const records = agent.dns?.text ?? "";
    const words = new Set(records.match(new RegExp(`${CANARY}-[a-z]+`, "g")));
    expect([...words].sort()).toEqual([A, GROUP]);
    for (const value of named.generated) expect(told + records).not.toContain(value);
  }
});

describe("the search for what is shown", () => {
  it("notices each route that would show the team's names or values if it asked for no permission", async () => {
    const careless: SweepCall = (method, path, sent) => ask(method, path, { ...sent, user: "admin" });
    const noticed: string[] = [];
    for (const route of routes.filter(({ method }) => method === "GET")) {
      for (const request of requestsTo(route, named)) {
        if ((await leakOf(careless, request, "bob", named)) === undefined) continue;
        noticed.push(route.path);
        break;
      }
    }
    expect(noticed).toEqual(
      expect.arrayContaining([
        ...["/tasks", "/tasks/:id", "/tasks/:id/output", "/resources/:id", "/configs", "/configs/:id"],
        ...["/deployments", "/deployment_configs", "/deployments/:deployment", "/events", "/link_address"],
        ...["/deployments/:deployment/instances", "/deployments/:deployment/variables", "/link_providers"],
        ...[
          "/link_consumers",
          "/stemcells",
          "/deployments/:deployment/vms",
          "/deployments/:deployment/disks",
        ],
        ...["/deployments/:deployment/snapshots", "/events/:id", "/deployed_variables/:name"],
      ]),
    );
  });

  it("notices a generated value, and lets pass what the caller has named", async () => {
    const [password = ""] = named.generated;
    const answers =
      (body: string): SweepCall =>
      async () => ({ status: 200, body });
    const request = { method: "GET", path: `/deployments/${A}`, sent: {} };
    expect(await leakOf(answers(`x${password}`), request, "bob", named)).toMatchObject({ found: password });
    expect(await leakOf(answers(`Deployment '${A}' doesn't exist`), request, "bob", named)).toBeUndefined();
    expect(await leakOf(answers(GROUP), request, "bob", named)).toMatchObject({ found: GROUP });
  });
});
