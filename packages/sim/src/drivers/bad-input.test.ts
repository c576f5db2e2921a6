import { saveConfig } from "@slipway/director/store/configs";
import type { NewTask } from "@slipway/director/tasks/task";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { chosen, sampleOf } from "@slipway/testkit/sample";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { deployTask } from "../crash/scenarios/tasks.ts";
import { CLOUD_CONFIG, manifestOf } from "../director/manifests.ts";
import { Bench } from "./testing/bench.ts";

const SHOP = { name: "shop", groups: [{ name: "db", instances: 2, disk: "d1" }] };
const GOOD = manifestOf(SHOP);
const STATIC = CLOUD_CONFIG.replace(
  "reserved: [10.0.0.2",
  "static: [10.0.0.20-10.0.0.29], reserved: [10.0.0.2",
);

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [] });
});
afterAll(() => bench.close());

async function staticConfig(): Promise<number> {
  const saved = await saveConfig(bench.db, { type: "cloud", name: "static", content: STATIC });
  return saved.ok ? saved.config.id : 0;
}

function deployOf(manifest: string, more: JsonObject = {}): NewTask {
  const task = deployTask(SHOP);
  return { ...task, params: { ...task.params, manifest, ...more } };
}

const statics = (ips: string) =>
  GOOD.replace("networks: [{name: private}]", `networks: [{name: private, static_ips: [${ips}]}]`);

interface Bad {
  readonly what: string;
  readonly manifest: string;
  readonly says: readonly RegExp[];
  readonly statics?: boolean;
  readonly configs?: readonly number[];
}

const BAD: readonly Bad[] = [
  {
    what: "broken YAML",
    manifest: "name: shop\ninstance_groups: [{name: db",
    says: [/manifest/, /line|YAML/],
  },
  { what: "not a hash", manifest: "- shop\n", says: [/manifest/] },
  { what: "empty", manifest: "", says: [/manifest/] },
  {
    what: "another deployment's name",
    manifest: GOOD.replace("name: shop", "name: store"),
    says: [/'store'/, /'shop'/],
  },
  {
    what: "an unknown VM type",
    manifest: GOOD.replace("vm_type: small", "vm_type: huge"),
    says: [/huge/, /db/],
  },
  {
    what: "an unknown network",
    manifest: GOOD.replace("{name: private}", "{name: public}"),
    says: [/public/, /db/],
  },
  {
    what: "an unknown zone",
    manifest: GOOD.replace("azs: [z1]", "azs: [z9]"),
    says: [/z9/, /db/],
  },
  {
    what: "an unknown disk type",
    manifest: GOOD.replace("persistent_disk_type: d1", "persistent_disk_type: d9"),
    says: [/d9/, /db/],
  },
  {
    what: "an unknown stemcell",
    manifest: GOOD.replace("version: '1.1'", "version: '9.9'"),
    says: [/9\.9/, /stemcell/],
  },
  {
    what: "an unknown alias of a stemcell",
    manifest: GOOD.replace("stemcell: default", "stemcell: other"),
    says: [/other/, /stemcell/],
  },
  {
    what: "a wrong type",
    manifest: GOOD.replace("instances: 2", "instances: two"),
    says: [/instances/, /db/],
  },
  {
    what: "an address outside the range",
    manifest: statics("192.168.7.7, 10.0.0.21"),
    statics: true,
    says: [/192\.168\.7\.7/, /private/],
  },
  {
    what: "a static address twice",
    manifest: statics("10.0.0.21, 10.0.0.21"),
    statics: true,
    says: [/10\.0\.0\.21/],
  },
  {
    what: "fewer static addresses than instances",
    manifest: statics("10.0.0.21"),
    statics: true,
    says: [/static/, /db/],
  },
  {
    what: "variables without a value",
    manifest: GOOD.replace("releases: []", "releases: []\ntags: {secret: ((a_password))}"),
    says: [/a_password/, /variable/],
  },
  {
    what: "jobs of a release that is not there",
    manifest: GOOD.replace("jobs: []", "jobs: [{name: nginx, release: nginx}]").replace(
      "releases: []",
      "releases: [{name: nginx, version: '1'}]",
    ),
    says: [/Release 'nginx' doesn't exist/, /upload-release/],
  },
  { what: "an unknown config", manifest: GOOD, configs: [1, 999], says: [/config/, /999/] },
  { what: "no cloud config", manifest: GOOD, configs: [], says: [/update-cloud-config/] },
];

async function converges(manifest = GOOD, more: JsonObject = {}): Promise<void> {
  const { state, message } = await bench.run(deployOf(manifest, more), { seed: "good" });
  expect(`${state} ${message}`).toBe("done ");
  expect(await bench.broken()).toEqual([]);
  expect(bench.world.vms.size).toBe(2);
}

describe("what cannot be deployed is refused in words for the operator, and nothing is asked of the cloud", () => {
  it.each(sampleOf("bad input", BAD, 4))(
    "$what",
    async ({ manifest, says, statics: withStatics, configs }) => {
      await bench.rewind();
      const ids = withStatics === true ? [await staticConfig()] : (configs ?? [1]);
      const task = deployOf(manifest, { cloud_config_ids: [...ids] });
      const { state, message, calls } = await bench.run(task, { seed: "bad" });
      expect(state).toBe("error");
      for (const word of says) expect(message).toMatch(word);
      expect(message).not.toMatch(/unexpected|undefined|\[object/);
      expect(calls).toEqual([]);
      await converges();
    },
  );

  it.each(sampleOf("bad input while it runs", [0, 1], 1))(
    "of a deployment that runs, too: it stays as it is (%i)",
    async (at) => {
      await bench.rewind();
      await converges();
      const before = JSON.stringify([...bench.world.vms.keys()]);
      const { state, changing } = await bench.run(deployOf(BAD[at]?.manifest ?? ""), { seed: "bad" });
      expect([state, changing]).toEqual(["error", []]);
      expect(JSON.stringify([...bench.world.vms.keys()])).toBe(before);
      const again = await bench.run(deployOf(GOOD), { seed: "again" });
      expect([again.state, again.changing]).toEqual(["done", []]);
    },
  );
});

describe("hostile documents", () => {
  // As few pieces as there can be: the parser's time goes by pieces, and every VM and disk is told all tags.
  it.runIf(chosen("10 MB", 1 / 3))(
    "a manifest of 10 MB is deployed, and its tags reach the cloud whole",
    {
      timeout: 600_000,
    },
    async () => {
      await bench.rewind();
      const value = "x".repeat(100 * 1024);
      const tags = Array.from({ length: 100 }, (_, at) => `  tag-${at}: ${value}\n`).join("");
      await converges(`${GOOD}tags:\n${tags}`);
      for (const { metadata } of bench.world.vms.values())
        expect(metadata).toMatchObject({ "tag-0": value, "tag-99": value });
      await converges();
    },
  );

  const strange = (key: string) =>
    `${GOOD}tags: {"${key}": {polluted: "yes"}, plain: "1"}\n"${key}": {polluted: "yes"}\n`;

  it("the key __proto__ is refused, with its place", async () => {
    await bench.rewind();
    const { state, message, calls } = await bench.run(deployOf(strange("__proto__")), { seed: "proto" });
    expect([state, calls]).toEqual(["error", []]);
    expect(message).toMatch(/^the manifest, line 18, column 8: the key __proto__ is not accepted/);
    expect(({} as { readonly polluted?: string }).polluted).toBeUndefined();
    await converges();
  });

  it.each(["constructor", "prototype", "toString"])("the key %s is a key like others", async (key) => {
    await bench.rewind();
    await converges(strange(key));
    for (const { metadata } of bench.world.vms.values())
      expect(Object.entries(metadata)).toContainEqual([key, { polluted: "yes" }]);
    expect(({} as { readonly polluted?: string }).polluted).toBeUndefined();
    await converges();
  });
});

describe("two deploys of one deployment at once", () => {
  it("the second is told who holds it, and both end", async () => {
    await bench.rewind();
    let secondEnded: () => void = () => undefined;
    const over = new Promise<void>((resolve) => {
      secondEnded = resolve;
    });
    const ended = bench.runAll([deployOf(GOOD), deployOf(GOOD)], {
      seed: "two",
      interference: {
        cpi: ({ method }, carryOut) => (method === "create_vm" ? over.then(carryOut) : undefined),
      },
    });
    await expect
      .poll(async () => {
        const rows = await bench.db
          .selectFrom("tasks")
          .select("state")
          .where("state", "=", "error")
          .execute();
        return rows.length;
      })
      .toBe(1);
    secondEnded();
    const states = [...(await ended)].sort((a, b) => (a.state < b.state ? -1 : 1));
    expect(states.map(({ state }) => state)).toEqual(["done", "error"]);
    expect(states[1]?.message).toMatch(/deployment 'shop'/);
    expect(states[1]?.message).toMatch(new RegExp(`task ${states[0]?.id}`));
    expect(await bench.broken()).toEqual([]);
    expect(bench.world.vms.size).toBe(2);
  });
});
