import { readOutput } from "@slipway/director/tasks/output";
import { fractionsOf, rounds, sampleOf, seed } from "@slipway/testkit/sample";
import { describe, expect, it } from "vitest";
import type { EndedTask } from "./testing/bench.ts";
import { jobsStage, shopRelease, web } from "./testing/jobs-stage.ts";
import { memoryConfigServer } from "./testing/memory-config-server.ts";

const { stage, done, upload, task } = jobsStage();

interface Wanted {
  readonly web: string;
  readonly client: string;
  readonly lib: string;
  readonly tool: string;
  readonly port: number;
  readonly tag: string;
  readonly instances: number;
}

const FIRST: Wanted = {
  ...{ web: "a template", client: "of a client", lib: "# lib", tool: "# tool" },
  ...{ port: 80, tag: "none", instances: 2 },
};

interface Change {
  readonly name: string;
  /** The groups it concerns, and what the dry run says of each of their instances. */
  readonly why: Readonly<Record<string, readonly RegExp[]>>;
  readonly to: (wanted: Wanted, nth: number) => Wanted;
}

const NEW_VARIABLE = "a variable has another value";

/** Everything that can change of what instances run, and whom it concerns. No other group is told anything. */
const CHANGES: readonly Change[] = [
  {
    name: "a template",
    why: { web: [/^job 'web' changed$/, /^template config\/web.yml of web changed$/] },
    to: (wanted, nth) => ({ ...wanted, web: `template ${nth}` }),
  },
  {
    name: "a template of another job",
    why: { client: [/^job 'client' changed$/, /^template config\/client.yml of client changed$/] },
    to: (wanted, nth) => ({ ...wanted, client: `template ${nth}` }),
  },
  {
    name: "a package",
    why: { plain: [/^package 'tool' changed$/] },
    to: (wanted, nth) => ({ ...wanted, tool: `# ${nth}` }),
  },
  {
    name: "a package that another is compiled with",
    why: { web: [/^package 'server' changed$/] },
    to: (wanted, nth) => ({ ...wanted, lib: `# ${nth}` }),
  },
  {
    name: "a property that no link tells of",
    why: { client: [/^template config\/client.yml of client changed$/] },
    to: (wanted, nth) => ({ ...wanted, tag: `tag ${nth}` }),
  },
  {
    name: "a property that a link tells of",
    why: {
      web: [/^template config\/web.yml of web changed$/],
      client: [/^template config\/client.yml of client changed$/],
    },
    to: (wanted, nth) => ({ ...wanted, port: 1000 + nth }),
  },
  { name: NEW_VARIABLE, why: { web: [/^template config\/web.yml of web changed$/] }, to: (wanted) => wanted },
];

const deployOf = ({ port, tag, instances }: Wanted, options: object = {}) =>
  task(
    [
      { name: "web", instances, jobs: [web({ port, password: "((pw))" })] },
      { name: "client", instances: 1, jobs: [{ name: "client", release: "shop", properties: { tag } }] },
      { name: "plain", instances: 2, jobs: [{ name: "plain", release: "shop" }] },
      { name: "empty", instances: 1 },
    ],
    options,
  );

/** Returns the reasons of each update, by group. Instances without an update are left out. */
async function planned({ id }: EndedTask): Promise<Readonly<Record<string, readonly (readonly string[])[]>>> {
  const result = JSON.parse((await readOutput(stage.bench.db, id, "result")).data.toString()) as {
    readonly groups: readonly (readonly {
      readonly group: string;
      readonly batches: readonly {
        readonly instances: readonly { readonly changes: readonly { readonly reason: string }[] }[];
      }[];
    }[])[];
  };
  const found = result.groups.flat().map(({ group, batches }) => {
    const all = batches.flatMap(({ instances }) => instances);
    return [group, all.map(({ changes }) => changes.map(({ reason }) => reason))] as const;
  });
  return Object.fromEntries(found.filter(([, instances]) => instances.length > 0));
}

/** Instances that were told something that changes them: `web`, `web`. */
async function told({ calls }: EndedTask): Promise<readonly string[]> {
  const { instances } = await stage.bench.remembered();
  const groupOf = new Map(
    instances.flatMap(({ group, vms }) => vms.map((vm) => [String(vm.agentId), group])),
  );
  const agents = calls.flatMap((call) =>
    call.peer === "agent" && ["apply", "start", "stop", "drain"].includes(call.method) ? [call.agentId] : [],
  );
  return [...new Set(agents)].flatMap((agentId) => groupOf.get(agentId) ?? []).sort();
}

describe(`a change reaches the instances it concerns, and no others; the dry run names them and why (seed ${seed()})`, () => {
  it("holds for any changes, one after the other", { timeout: 600_000 }, async () => {
    const server = memoryConfigServer();
    server.set("/sim/shop/pw", "first");
    const options = { configServer: server };
    const sizes = { web: FIRST.instances, client: 1, plain: 2 } as Readonly<Record<string, number>>;
    let wanted = FIRST;
    await done(deployOf(wanted), options);
    const random = fractionsOf("job changes");
    const order = [
      ...sampleOf("job changes in turn", CHANGES, 2),
      ...Array.from({ length: rounds({ sample: 0, all: 30 }) }, () => undefined),
    ].map((change) => change ?? (CHANGES[Math.floor(random() * CHANGES.length)] as Change));
    for (const [nth, change] of order.entries()) {
      const concerned = Object.keys(change.why).sort();
      const next = change.to(wanted, nth);
      if (change.name === NEW_VARIABLE) server.set("/sim/shop/pw", `value ${nth}`);
      const { port: _, tag: __, instances: ___, ...parts } = next;
      if (["web", "client", "lib", "tool"].some((part) => next[part as "web"] !== wanted[part as "web"]))
        await upload(shopRelease({ ...parts, version: `${nth + 2}` }));
      wanted = next;
      const dry = await done(deployOf(wanted, { dry_run: true }), options);
      expect([change.name, dry.changing]).toEqual([change.name, []]);
      const plan = await planned(dry);
      expect([change.name, Object.keys(plan).sort()]).toEqual([change.name, concerned]);
      for (const [group, reasons] of Object.entries(change.why))
        for (const given of plan[group] ?? [])
          for (const reason of reasons) expect(given).toContainEqual(expect.stringMatching(reason));
      const ended = await done(deployOf(wanted), options);
      const instances = concerned.flatMap((group) => Array.from({ length: sizes[group] ?? 0 }, () => group));
      expect([change.name, await told(ended)]).toEqual([change.name, instances]);
      expect((await done(deployOf(wanted), options)).changing).toEqual([]);
    }
    expect(await stage.bench.broken()).toEqual([]);
  });

  it("reaches instances with a link to a group that gets another instance", async () => {
    const options = { configServer: memoryConfigServer() };
    options.configServer.set("/sim/shop/pw", "value");
    await done(deployOf(FIRST), options);
    const more = await done(deployOf({ ...FIRST, instances: 3 }), options);
    expect(new Set(await told(more))).toEqual(new Set(["client", "web"]));
    expect(await told(more)).not.toContain("plain");
  });
});
