import { saveConfig } from "@slipway/director/store/configs";
import { deploymentVariables } from "@slipway/director/store/variable-sets";
import { readOutput } from "@slipway/director/tasks/output";
import type { NewTask } from "@slipway/director/tasks/task";
import { ConfigServerAway } from "@slipway/director/variables/errors";
import { expectNoSecrets } from "@slipway/testkit/canaries";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deployTask, remembers, stateTask, taskOf } from "../crash/scenarios/tasks.ts";
import { CLOUD_CONFIG } from "../director/manifests.ts";
import { Bench, type EndedTask } from "./testing/bench.ts";
import { type MemoryConfigServer, memoryConfigServer } from "./testing/memory-config-server.ts";

sampleTests(1 / 4);

let bench: Bench;
let server: MemoryConfigServer;
beforeAll(async () => {
  bench = await Bench.open();
});
afterAll(() => bench.close());
beforeEach(async () => {
  server = memoryConfigServer();
  await bench.prepare({ cpi: remembers, before: [] });
});

interface Sketch {
  readonly variables?: string;
  readonly env?: string;
  readonly tags?: string;
  readonly vmTypes?: string;
  readonly instances?: number | string;
}

/** A group of one VM. */
async function deploy(sketch: Sketch, options: object = {}): Promise<NewTask> {
  const { variables = "[{name: pw, type: password}]", env = "{secret: ((pw))}", tags = "{}" } = sketch;
  const types = sketch.vmTypes ?? "{cpu: 1}";
  const content = CLOUD_CONFIG.replace(
    "{name: small, cloud_properties: {cpu: 1}}",
    `{name: small, cloud_properties: ${types}}`,
  );
  const saved = await saveConfig(bench.db, { type: "cloud", name: "default", content });
  const base = deployTask({ name: "shop", groups: [{ name: "web", instances: 1, disk: "d1" }] }, options);
  const manifest = String(base.params.manifest)
    .replace("jobs: []", `jobs: []\n  env: ${env}`)
    .replace("instances: 1", `instances: ${sketch.instances ?? 1}`)
    .concat(`tags: ${tags}\nvariables: ${variables}\n`);
  return {
    ...base,
    params: { ...base.params, manifest, cloud_config_ids: [saved.ok ? saved.config.id : 0] },
  };
}

let runs = 0;
async function run(task: NewTask, more: Parameters<Bench["run"]>[1] | object = {}): Promise<EndedTask> {
  const ended = await bench.run(task, { seed: `variables ${runs++}`, configServer: server, ...more });
  await nothingShows(ended);
  return ended;
}
const done = async (task: NewTask): Promise<EndedTask> => {
  const ended = await run(task);
  expect(`${ended.state} ${ended.message}`).toBe("done ");
  return ended;
};

/** Expects no secret in the outputs of a task or in the database. */
async function nothingShows({ id, message }: EndedTask): Promise<void> {
  expectNoSecrets(message);
  for (const type of ["event", "debug", "cpi", "result", "conversation"] as const)
    expectNoSecrets((await readOutput(bench.db, id, type)).data.toString());
  expectNoSecrets(await bench.rowsAsText());
}

const createVms = ({ calls }: EndedTask) =>
  calls.flatMap((call) => {
    if (call.peer !== "cpi" || call.method !== "create_vm") return [];
    const [, , cloudProperties, networks, , env] = call.request.arguments as Record<
      string,
      Record<string, unknown>
    >[];
    return [{ cloudProperties, networks, env }];
  });
const value = (nth: number) => server.versions[nth - 1]?.value;

describe("a deploy with variables", () => {
  it("generates what is defined; only the CPI gets the values", async () => {
    const ended = await done(
      await deploy({
        env: "{secret: ((pw)), bosh: {password: 'x((pw))'}}",
        vmTypes: "{cpu: 1, key: ((/shared/key.deep))}",
        variables: "[{name: pw, type: password}, {name: /shared/key, type: map}]",
      }).then((task) => {
        server.set("/shared/key", { deep: "CANARY-shared" });
        return task;
      }),
    );
    const [made] = createVms(ended);
    expect(made).toMatchObject({
      cloudProperties: { cpu: 1, key: "CANARY-shared" },
      env: { secret: value(2), bosh: { password: `x${String(value(2))}` } },
    });
    expect(await deploymentVariables(bench.db, "shop", undefined)).toEqual([
      { id: "id-1", name: "/shared/key" },
      { id: "id-2", name: "/sim/shop/pw" },
    ]);
    expect(await deploymentVariables(bench.db, "shop", "password")).toEqual([
      { id: "id-2", name: "/sim/shop/pw" },
    ]);
  });

  it("takes all cloud properties from one variable, and records none of its values", async () => {
    server.set("/shared/all", { cpu: 2, key: "CANARY-key", nested: { deep: "CANARY-deep" } });
    const task = () => deploy({ vmTypes: "((/shared/all))" });
    const [made] = createVms(await done(await task()));
    expect(made?.cloudProperties).toEqual({ cpu: 2, key: "CANARY-key", nested: { deep: "CANARY-deep" } });
    expect((await done(await task())).changing).toEqual([]);
    server.set("/shared/all", { cpu: 3 });
    const [next] = createVms(await done(await task()));
    expect(next?.cloudProperties).toEqual({ cpu: 3 });
  });

  it("generates nothing and does nothing if it is repeated", async () => {
    await done(await deploy({ vmTypes: "{key: ((pw))}", tags: "{t: ((pw))}" }).then(withoutTagCanary));
    const again = await done(
      await deploy({ vmTypes: "{key: ((pw))}", tags: "{t: ((pw))}" }).then(withoutTagCanary),
    );
    expect([again.changing, server.versions.length]).toEqual([[], 1]);
  });

  it("changes cloud properties, and no env, if only a value is new", async () => {
    const overwrite = "[{name: pw, type: password, update_mode: overwrite}]";
    await done(await deploy({ variables: overwrite }));
    expect((await done(await deploy({ variables: overwrite }))).changing).toEqual([]);
    await done(await deploy({ variables: overwrite, env: "{}", vmTypes: "{key: ((pw))}" }));
    const [made] = createVms(
      await done(await deploy({ variables: overwrite, env: "{}", vmTypes: "{key: ((pw))}" })),
    );
    expect(made?.cloudProperties).toEqual({ key: value(4) });
  });

  it("keeps its values for later operations such as recreate", async () => {
    await done(await deploy({ vmTypes: "{key: ((pw))}" }));
    server.set("/sim/shop/pw", "CANARY-newer");
    const [made] = createVms(await done(stateTask("recreate")));
    expect([made?.env?.secret, made?.cloudProperties?.key]).toEqual([value(1), value(1)]);
    expect((await done(stateTask("stopped"))).state).toBe("done");
    const [next] = createVms(await done(await deploy({ vmTypes: "{key: ((pw))}" })));
    expect(next?.env?.secret).toBe("CANARY-newer");
  });

  it("delays variables that wait for another stemcell, unless the newest is requested", async () => {
    const waits =
      "[{name: pw, type: password, update_mode: overwrite, update: {strategy: on-stemcell-change}}]";
    const task = (options?: object) =>
      deploy({ variables: waits, env: "{}", vmTypes: "{key: ((pw))}" }, options);
    await done(await task());
    expect((await done(await task())).changing).toEqual([]);
    const [made] = createVms(await done(await task({ force_latest_variables: true })));
    expect([made?.cloudProperties?.key, server.versions.length]).toEqual([value(2), 2]);
  });

  it("works the same with the Director's own config server", async () => {
    const own = { configServer: undefined };
    const task = () =>
      deploy({ variables: "[{name: pw, type: user, options: {username: ada}}]", env: "{u: ((pw))}" });
    const first = await run(await task(), own);
    const [made] = createVms(first);
    expect(`${first.state} ${first.message}`).toBe("done ");
    expect(made?.env?.u).toMatchObject({
      username: "ada",
      password: expect.stringMatching(/^[a-z0-9]{20}$/),
    });
    expect((await run(await task(), own)).changing).toEqual([]);
    const again = await run(stateTask("recreate"), own);
    expect(createVms(again)[0]?.env?.u).toEqual(made?.env?.u);
  });
});

describe("a deploy that fails or is a dry run", () => {
  const refused = async (task: NewTask, more: object = {}) => {
    const ended = await run(task, more);
    expect([ended.state, ended.changing]).toEqual(["error", []]);
    return ended.message;
  };

  it("changes nothing if variables are missing, and reports all of them", async () => {
    const task = await deploy({ variables: "[]", env: "{a: ((x)), b: ((y.z))}", tags: "{t: ((/far/away))}" });
    const message = await refused(task);
    for (const name of ["/sim/shop/x", "/sim/shop/y", "/far/away"])
      expect(message).toContain(`- Failed to find variable '${name}' from config server: HTTP Code '404'`);
  });

  it.each([
    ["a name that is none", { env: "{a: ((x y))}" }, /Variable name 'x y' must only contain/],
    ["a relative name in the cloud config's own part", {}, /Relative paths are not allowed/],
    ["a type that does not fit", { instances: "((pw))" }, /instances/],
    [
      "a relative name for all cloud properties",
      { vmTypes: "((pw))" },
      /must be be switched to use absolute paths: 'pw'/,
    ],
    ["two of a name", { variables: "[{name: pw, type: a}, {name: pw, type: b}]" }, /duplicate names/],
    ["a definition without a type", { variables: "[{name: pw}]" }, /Type for variable 'pw' is missing/],
    [
      "definitions that need each other",
      {
        variables: "[{name: a, type: x, options: {o: ((b))}}, {name: b, type: x, options: {o: ((a))}}]",
      },
      /need each other: \/sim\/shop\/a -> \/sim\/shop\/b -> \/sim\/shop\/a/,
    ],
  ] as const)("changes nothing with %s", async (what, sketch, words) => {
    const task = await deploy(sketch);
    if (what.endsWith("own part")) {
      const content = CLOUD_CONFIG.replace("workers: 1", "workers: ((many))");
      const saved = await saveConfig(bench.db, { type: "cloud", name: "default", content });
      const params = { ...task.params, cloud_config_ids: [saved.ok ? saved.config.id : 0] };
      expect(await refused({ ...task, params })).toMatch(words);
    } else expect(await refused(task)).toMatch(words);
  });

  it("changes nothing if the config server is away, before and after it had the values", async () => {
    const away = () =>
      Promise.reject(ConfigServerAway({ doing: "fetching", url: "https://there", why: "gone" }));
    const gone = { configServer: { newest: away, byId: away, generate: away } };
    const task = await deploy({ vmTypes: "{key: ((pw))}" });
    expect(await refused(task, gone)).toMatch(/the config server https:\/\/there cannot be asked: gone/);
    await done(task);
    expect(await refused(task, gone)).toMatch(/cannot be asked/);
    expect(await refused(stateTask("recreate"), gone)).toMatch(/cannot be asked/);
  });

  it("changes nothing in a dry run, not even values that others use", async () => {
    const overwrite = "[{name: pw, type: password, update_mode: overwrite}]";
    await done(await deploy({ variables: overwrite }));
    const dry = await run(await deploy({ variables: overwrite }, { dry_run: true }));
    expect([dry.state, dry.changing, server.versions.length]).toEqual(["done", [], 1]);
  });
});

describe("a deployment", () => {
  it("leaves no variable sets behind if it is deleted", async () => {
    await done(await deploy({}));
    await done(taskOf("delete_deployment", { force: false }));
    expect(await bench.db.selectFrom("variable_sets").selectAll().execute()).toEqual([]);
  });

  it("keeps no more sets than its instances need", async () => {
    for (let at = 0; at < 3; at++) await done(await deploy({}));
    expect((await bench.db.selectFrom("variable_sets").selectAll().execute()).length).toBe(1);
  });
});

/** Tags are no place for secrets: they are written on VMs and shown. */
function withoutTagCanary(task: NewTask): NewTask {
  if (server.versions.length === 0) server.set("/sim/shop/pw", "plain");
  return task;
}
