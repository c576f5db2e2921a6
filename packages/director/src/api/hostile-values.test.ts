import { arbitraryFor } from "@slipway/testkit/arbitrary";
import { fractionsOf, sampleOf } from "@slipway/testkit/sample";
import fc from "fast-check";
import { afterAll, beforeAll, expect, it } from "vitest";
import { saveConfig } from "../store/configs.ts";
import { ensureDeployment } from "../store/deployments.ts";
import { giveDnsIds } from "../store/dns-ids.ts";
import { saveLinks } from "../store/links.ts";
import { enqueue } from "../tasks/queue.ts";
import type { Route } from "./route.ts";
import { routes } from "./routes.ts";
import { type Harness, startHarness } from "./testing/harness.ts";

const provider = {
  kind: "job" as const,
  ...{ deployment: "shop", group: "db", job: "postgres", originalName: "db", name: "db" },
  ...{ type: "sql", shared: true, consumable: true, custom: false, properties: {}, aliases: [] },
  content: {
    ...{ deployment_name: "shop", domain: "bosh", default_network: "private", networks: ["private"] },
    ...{ instance_group: "db", properties: {}, instances: [] },
  },
};
const consumer = {
  ...{ group: "web", job: "app", originalName: "db", name: "db", type: "sql", optional: true },
  ...{ explicit: true, blocked: false, manual: undefined, deployment: undefined },
  ...{ network: undefined, ipAddresses: undefined },
};

let api: Harness;
beforeAll(async () => {
  api = await startHarness();
  const { id } = await ensureDeployment(api.db, "shop");
  const links = [{ name: "db", consumer, provider, content: provider.content }];
  await saveLinks(api.db, id, { linkProviders: [provider], linkConsumers: [consumer], links });
  const groups = [{ type: "instance-group", name: "db", deployment: "shop" }] as const;
  await giveDnsIds(api.db, { azs: ["z1"], networks: ["private"], groups });
  await saveConfig(api.db, { type: "cloud", name: "default", content: "azs: []", team: undefined });
  await enqueue(api.db, { type: "cck_scan", description: "x", user: "admin", params: {} });
});
afterAll(() => api.close());

/** Names of existing things, so that a request gets as far as its bad value. */
const THERE: Readonly<Record<string, string>> = {
  ...{ deployment: "shop", id: "1", link_id: "1", link_provider_id: "1", type: "cloud", name: "default" },
  ...{ group: "web", index: "0", action: "restart", network: "private", errand: "smoke", version: "1" },
};
/** Text that compresses to no less than it is: indexes take 2,704 bytes. */
const roll = fractionsOf("hostile values");
const LONG = Array.from({ length: 6000 }, () => String.fromCharCode(48 + Math.floor(roll() * 74))).join("");
const VALUES = [
  ...["", " ", ".", "..", "-1", "0", "1", "1.5", "1e999", "9".repeat(30), "true", "null", "[]", "{}"],
  ...[
    "nowhere",
    "__proto__",
    "constructor",
    "2001-02-30",
    "%",
    "*",
    "a,b",
    "\u{1F4A9}".repeat(500),
    LONG.slice(0, 2000),
  ],
];
const TYPES = {
  any: "text/plain",
  yaml: "text/yaml",
  json: "application/json",
  archive: "application/x-compressed",
};

const filled = (path: string) => path.replace(/:(\w+)/g, (_, name: string) => THERE[name] ?? "x");

async function mustNotFail({ method, body }: Route, path: string, sent?: string): Promise<void> {
  const given =
    method === "GET" ? {} : { type: TYPES[body], body: sent ?? (body === "json" ? "{}" : "a: 1") };
  const { status } = await api.ask(method, path, given);
  expect(status, `${method} ${path.slice(0, 200)} ${sent?.slice(0, 400) ?? ""}`).toBeLessThan(500);
}

it("no value of any declared query parameter makes the Director fail, on any route", async () => {
  for (const route of routes) {
    const names = Object.keys(route.endpoint.query?.entries ?? {});
    for (const name of names)
      for (const value of sampleOf(`query ${route.path} ${name}`, VALUES, 3)) {
        const others = names.filter((one) => one !== name && THERE[one] !== undefined);
        const pairs = [...others.map((one) => [one, THERE[one] ?? ""]), [name, value]];
        const query = pairs.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
        await mustNotFail(route, `${filled(route.path)}?${query}`);
      }
  }
  expect(api.errors).toEqual([]);
});

/** The same document with another text at one place after the other. */
function* spoiled(value: unknown, texts: readonly string[]): Generator<unknown> {
  if (typeof value === "string") yield* texts;
  else if (Array.isArray(value)) {
    for (const [at, item] of value.entries())
      for (const other of spoiled(item, texts)) yield value.with(at, other);
  } else if (typeof value === "object" && value !== null)
    for (const [key, item] of Object.entries(value))
      for (const other of spoiled(item, texts)) yield { ...value, [key]: other };
}

const IN_BODIES: Readonly<Record<string, string>> = {
  ...{ deployment: "shop", deployment_name: "shop", id: "1", link_provider_id: "1", network: "private" },
};

/** Texts of a document that name something are given the name of what is there. */
const withKnownNames = (value: unknown): unknown =>
  Array.isArray(value)
    ? value.map(withKnownNames)
    : typeof value === "object" && value !== null
      ? Object.fromEntries(
          Object.entries(value).map(([key, item]) => [
            key,
            typeof item === "string" ? (IN_BODIES[key] ?? item) : withKnownNames(item),
          ]),
        )
      : value;

it("no text in a JSON body makes the Director fail, on any route", async () => {
  for (const route of routes) {
    const { body } = route.endpoint;
    if (route.body !== "json" || body === undefined) continue;
    const drawn = fc.sample(arbitraryFor(body), { seed: 1, numRuns: 4 }).map(withKnownNames);
    for (const document of drawn)
      for (const other of spoiled(document, ["", LONG]))
        await mustNotFail(route, filled(route.path), JSON.stringify(other));
  }
  expect(api.errors).toEqual([]);
});
