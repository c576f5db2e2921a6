import type { RenderPool } from "@slipway/engine/templates/request";
import type { JsonObject } from "@slipway/protocol/schema/json";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import type { GroupSketch } from "../director/manifests.ts";
import { simRenderPool } from "../director/sim-renderer.ts";
import { jobsStage, shopRelease, web } from "./testing/jobs-stage.ts";
import { memoryConfigServer } from "./testing/memory-config-server.ts";

sampleTests(1 / 3);

const { stage, done, upload, task } = jobsStage();

interface Counted {
  readonly renderer: RenderPool;
  /** Groups whose jobs were rendered since the last look, one for each instance and job. */
  seen(): readonly string[];
}

/** Renders as the simulator does. `clock`: each text differs from the one before. */
function counted({ identity = "first", clock = false } = {}): Counted {
  const groups: string[] = [];
  let now = 0;
  return {
    seen: () => groups.splice(0).sort(),
    renderer: {
      ...simRenderPool,
      open: () => {
        const one = simRenderPool.open();
        return {
          ...one,
          identity: () => Promise.resolve(identity),
          render: ({ context, ...rest }, signal) => {
            groups.push(String(context.name));
            const given = clock ? { ...context, now: now++ } : context;
            return one.render({ ...rest, context: given }, signal);
          },
        };
      },
    },
  };
}

const CLIENT = { name: "client", release: "shop", properties: { tag: "none" } };
const GROUPS: readonly GroupSketch[] = [
  { name: "web", instances: 2, jobs: [web({ port: 80, password: "((pw))" })] },
  { name: "client", instances: 1, jobs: [CLIENT] },
  { name: "plain", instances: 1, jobs: [{ name: "plain", release: "shop" }] },
];
const ALL = ["client", "plain", "web", "web"];

/** The same groups, of which some fields of one differ. */
const changed = (name: string, change: Partial<GroupSketch>): readonly GroupSketch[] =>
  GROUPS.map((one) => (one.name === name ? { ...one, ...change } : one));

function servers() {
  const configServer = memoryConfigServer();
  configServer.set("/sim/shop/pw", "first");
  return { configServer };
}

const archives = () =>
  [...stage.bench.world.vms.values()]
    .map(
      ({ agent }) => (agent.spec as { rendered_templates_archive?: JsonObject }).rendered_templates_archive,
    )
    .map((one) => String(one?.sha1))
    .sort();

describe("a deploy of instances whose templates see what they saw before", () => {
  it("renders nothing, and changes nothing", async () => {
    const { seen, renderer } = counted();
    const options = { ...servers(), renderer };
    await done(task(GROUPS), options);
    expect(seen()).toEqual(ALL);
    const again = await done(task(GROUPS), options);
    expect([seen(), again.changing]).toEqual([[], []]);
    await done(task(GROUPS, { dry_run: true, recreate: true }), options);
    expect(seen()).toEqual([]);
  });

  it("sends recreated instances the files they had", async () => {
    const { seen, renderer } = counted();
    const options = { ...servers(), renderer };
    await done(task(GROUPS), options);
    const before = archives();
    seen();
    await done(task(GROUPS, { recreate: true }), options);
    expect(seen()).toEqual(ALL);
    expect(archives()).toEqual(before);
    expect(await stage.bench.broken()).toEqual([]);
  });

  it("renders, with --fix, only for the instance whose VM is gone", async () => {
    const { seen, renderer } = counted();
    const options = { ...servers(), renderer };
    await done(task(GROUPS), options);
    const before = archives();
    seen();
    const { instances } = await stage.bench.remembered();
    const [vm] = instances.find(({ group }) => group === "client")?.vms ?? [];
    stage.bench.world.vms.delete(vm?.cid as never);
    await done(task(GROUPS, { fix: true }), options);
    expect(seen()).toEqual(["client"]);
    expect(archives()).toEqual(before);
  });

  it("does not take a clock or random numbers in templates for a change", async () => {
    const { seen, renderer } = counted({ clock: true });
    const options = { ...servers(), renderer };
    await done(task(GROUPS), options);
    expect((await done(task(GROUPS), options)).changing).toEqual([]);
    seen();
    await done(task(GROUPS, { recreate: true }), options);
    expect(seen()).toEqual(ALL);
    expect((await done(task(GROUPS), options)).changing).toEqual([]);
    expect(await stage.bench.broken()).toEqual([]);
  });

  it("renders all again, once, with another renderer or in another version of the release", async () => {
    const options = servers();
    await done(task(GROUPS), { ...options, renderer: counted().renderer });
    const { seen, renderer } = counted({ identity: "second" });
    for (const rendered of [ALL, []]) {
      const { changing } = await done(task(GROUPS), { ...options, renderer });
      expect([seen(), changing]).toEqual([rendered, []]);
    }
    await upload(shopRelease({ version: "2" }));
    for (const rendered of [ALL, []]) {
      const { changing } = await done(task(GROUPS), { ...options, renderer });
      expect([seen(), changing]).toEqual([rendered, []]);
    }
  });

  it("renders all each time with a renderer that has no identity", async () => {
    const { seen, renderer } = counted();
    const open = () => ({ ...renderer.open(), identity: () => Promise.resolve(undefined) });
    const options = { ...servers(), renderer: { ...renderer, open } };
    for (const _ of [1, 2]) {
      await done(task(GROUPS), options);
      expect(seen()).toEqual(ALL);
    }
  });
});

describe("a deploy in which templates see something else", () => {
  const OWN = [{ name: "web", release: "shop", properties: { port: 81, password: "((pw))" } }];
  it.each<[string, readonly GroupSketch[], readonly string[]]>([
    ["a property that a link tells of", changed("web", { jobs: OWN }), ["client", "web", "web"]],
    ["a property", changed("client", { jobs: [{ ...CLIENT, properties: { tag: "x" } }] }), ["client"]],
    ["a further instance behind a link", changed("web", { instances: 3 }), ["client", "web", "web", "web"]],
    ["the size of the persistent disk", changed("plain", { disk: "d1" }), ["plain"]],
    ["another zone", changed("plain", { azs: ["z2"] }), ["plain"]],
    [
      "a further job beside it",
      changed("plain", { jobs: [CLIENT, ...(GROUPS[2]?.jobs ?? [])] }),
      ["plain", "plain"],
    ],
    ["a group with another name", changed("plain", { name: "flat", migratedFrom: "plain" }), ["flat"]],
  ])("renders what sees it: %s", async (_, groups, rendered) => {
    const { seen, renderer } = counted();
    const options = { ...servers(), renderer };
    await done(task(GROUPS), options);
    seen();
    await done(task(groups), options);
    expect(new Set(seen())).toEqual(new Set(rendered));
  });

  it("renders instances whose variable has another value", async () => {
    const { seen, renderer } = counted();
    const { configServer } = servers();
    await done(task(GROUPS), { configServer, renderer });
    seen();
    configServer.set("/sim/shop/pw", "second");
    await done(task(GROUPS), { configServer, renderer });
    expect(seen()).toEqual(["web", "web"]);
  });
});
