import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { activeVm } from "@slipway/engine/model/records";
import type { ManifestSketch } from "../../director/manifests.ts";
import { type ReleaseSketch, releaseArchive } from "../../director/release-archive.ts";
import type { CrashScenario, Move, View } from "../scenario.ts";
import { blobsOfReleases } from "./releases.ts";
import { deleteTask, deployTask, remembers, shop, stateTask, taskOf } from "./tasks.ts";

/** `web` serves, with two packages of which one needs the other; `client` finds it by a link. */
const release = (version: string, change: { readonly text?: string; readonly packaging?: string } = {}) =>
  ({
    name: "app",
    version,
    jobs: [
      {
        name: "web",
        monit: "",
        spec: {
          templates: { "web.yml": "config/web.yml" },
          packages: ["server"],
          properties: { port: {}, password: { default: "" } },
          provides: [{ name: "web", type: "http", properties: ["port"] }],
        },
        templates: { "web.yml": change.text ?? "a template" },
      },
      {
        name: "client",
        monit: "",
        spec: {
          templates: { "client.yml": "config/client.yml" },
          consumes: [{ name: "web", type: "http" }],
        },
        templates: { "client.yml": "another" },
      },
    ],
    packages: [
      { name: "lib", files: { packaging: "# lib" } },
      {
        name: "server",
        dependencies: ["lib"],
        files: { packaging: change.packaging ?? "# server" },
      },
    ],
  }) satisfies ReleaseSketch;

const RELEASES: readonly ReleaseSketch[] = [
  release("1"),
  release("2", { text: "the template, changed" }),
  release("3", { packaging: "# server, changed" }),
];

/** All versions, uploaded. */
const uploaded: readonly Move[] = RELEASES.flatMap((sketch): readonly Move[] => [
  {
    world: async ({ uploadsDir }) =>
      writeFile(join(uploadsDir, `${sketch.version}.tgz`), await releaseArchive(sketch)),
  },
  {
    task: ({ uploadsDir }) =>
      taskOf("update_release", {
        path: join(uploadsDir, `${sketch.version}.tgz`),
        fix: false,
        rebase: false,
      }),
  },
]);

interface Wanted {
  readonly version?: string;
  readonly port?: number;
  readonly more?: Partial<ManifestSketch>;
  readonly password?: string;
}

const wanted = ({ version = "1", port = 80, password, more }: Wanted = {}): ManifestSketch => {
  const properties = { port, ...(password !== undefined && { password }) };
  return {
    ...shop(
      { name: "web", instances: 2, jobs: [{ name: "web", release: "app", properties }] },
      { name: "client", instances: 1, disk: "d1", jobs: [{ name: "client", release: "app" }] },
    ),
    releases: [{ name: "app", version }],
    inFlight: 1,
    ...more,
  };
};
const without = (): ManifestSketch => ({
  ...shop({ name: "web", instances: 2 }, { name: "client", instances: 1, disk: "d1" }),
  releases: [{ name: "app", version: "1" }],
});
const deployed = (given?: Wanted): Move => ({ task: deployTask(wanted(given)) });
const failsToCompile = (name: string): Move => ({ world: ({ world }) => void world.uncompilable.add(name) });
const compiles: Move = { world: ({ world }) => world.uncompilable.clear() };

/** No VM that compiles is left, nor its record; each package is recorded once, with its blob. */
const compiledOnce = (view: View, ...packages: readonly string[]): readonly string[] => {
  const { remembered, compiled, world } = view;
  const names = compiled.map(({ name }) => name).join();
  const few = world.compilations.length < packages.length;
  return [
    ...(names === packages.join() ? [] : [`compiled and recorded: ${names}, not ${packages.join()}`]),
    ...(few ? [`only ${world.compilations.join()} were compiled`] : []),
    ...remembered.instances
      .filter(({ compilation }) => compilation === true)
      .map(({ group }) => `${group} is left, which compiled`),
    ...blobsOfReleases(view),
  ];
};

/** Every instance runs what is recorded of it, with this text in its templates' context. */
const running = ({ remembered, world }: View, jobs: number): readonly string[] => {
  const broken: string[] = [];
  let found = 0;
  for (const instance of remembered.instances) {
    const vm = activeVm(instance);
    const agent = vm && world.vms.get(vm.cid)?.agent;
    const { configuration_hash: hash } = (agent?.spec ?? {}) as { readonly configuration_hash?: unknown };
    const its = instance.spec?.jobs ?? undefined;
    found += its?.jobs.length ?? 0;
    if (its !== undefined && (hash !== its.configurationHash || agent?.running !== true))
      broken.push(`${instance.group}/${instance.index} does not run what is recorded of it`);
  }
  return found === jobs ? broken : [...broken, `${found} jobs instead of ${jobs} are recorded`];
};

const whole =
  (...packages: readonly string[]) =>
  (view: View): readonly string[] => [...running(view, 3), ...compiledOnce(view, ...packages)];

const variables = (view: View, ...names: readonly string[]): readonly string[] => {
  const found = view.variables.map((name) => name.split("/").at(-1)).join();
  return found === names.join() ? [] : [`there are the variables ${found}, not ${names.join()}`];
};

const first = (name: string, more: Partial<ManifestSketch> = {}): CrashScenario => ({
  name,
  cpi: remembers,
  before: uploaded,
  move: { task: deployTask(wanted({ more })) },
  again: deployTask(wanted({ more })),
  expects: whole("lib", "server"),
});

const change = (name: string, to: Wanted, ...packages: readonly string[]): CrashScenario => ({
  name,
  cpi: remembers,
  before: [...uploaded, deployed()],
  move: { task: deployTask(wanted(to)) },
  again: deployTask(wanted(to)),
  expects: whole(...packages),
});

/** Its name is known once the links are. */
const linked = (port: number): Wanted => ({
  password: "((tls.certificate))",
  port,
  more: { certificateFor: "web" },
});

const secret: Wanted = { password: "((kept))", more: { variables: true } };

export const DEPLOYS_WITH_JOBS: readonly CrashScenario[] = [
  first("jobs: a first deploy, with compilation"),
  first("jobs: a first deploy, packages compiled on one VM", { reuse: true }),
  {
    ...first("jobs: a first deploy, CPI that forgets"),
    cpi: { remembers: false },
  },
  change("jobs: a property changes", { port: 81 }, "lib", "server"),
  change("jobs: a template changes", { version: "2" }, "lib", "server"),
  change("jobs: a package changes", { version: "3" }, "lib", "server", "server"),
  {
    name: "jobs: recreate",
    cpi: remembers,
    before: [...uploaded, deployed()],
    move: { task: stateTask("recreate") },
    again: deployTask(wanted()),
    expects: whole("lib", "server"),
  },
  {
    name: "jobs: a package that cannot be compiled",
    cpi: remembers,
    before: [...uploaded, failsToCompile("server")],
    move: { task: deployTask(wanted()), ends: "error" },
    expects: (view) => [...running(view, 0), ...compiledOnce(view, "lib")],
  },
  {
    name: "jobs: deploy after a package that could not be compiled",
    cpi: remembers,
    before: [...uploaded, failsToCompile("server"), { task: deployTask(wanted()), ends: "error" }, compiles],
    move: { task: deployTask(wanted()) },
    again: deployTask(wanted()),
    expects: whole("lib", "server"),
  },
  {
    name: "jobs: a deploy with compilation, given up",
    cpi: remembers,
    before: [...uploaded, { task: deployTask(without()) }],
    move: { task: deployTask(wanted()) },
    goesBack: deployTask(without()),
  },
  {
    name: "jobs: a changed package, given up",
    cpi: remembers,
    before: [...uploaded, deployed()],
    move: { task: deployTask(wanted({ version: "3" })) },
    goesBack: deployTask(wanted()),
  },
  {
    name: "jobs: links and variables",
    cpi: remembers,
    before: uploaded,
    move: { task: deployTask(wanted(secret)) },
    again: deployTask(wanted(secret)),
    expects: (view) => [...whole("lib", "server")(view), ...variables(view, "kept", "renewed")],
  },
  {
    name: "jobs: what a link tells changes, and a variable",
    cpi: remembers,
    before: [...uploaded, { task: deployTask(wanted(secret)) }],
    move: { task: deployTask(wanted({ ...secret, password: "((renewed))", port: 81 })) },
    expects: (view) => [...whole("lib", "server")(view), ...variables(view, "kept", "renewed", "renewed")],
  },
  {
    name: "jobs: a certificate with the name of a link",
    cpi: remembers,
    dns: true,
    before: uploaded,
    move: { task: deployTask(wanted(linked(80))) },
    again: deployTask(wanted(linked(80))),
    expects: (view) => [...whole("lib", "server")(view), ...variables(view, "authority", "tls")],
  },
  {
    name: "jobs: what such a link tells changes, the certificate does not",
    cpi: remembers,
    dns: true,
    before: [...uploaded, { task: deployTask(wanted(linked(80))) }],
    move: { task: deployTask(wanted(linked(81))) },
    again: deployTask(wanted(linked(81))),
    expects: (view) => [...whole("lib", "server")(view), ...variables(view, "authority", "tls")],
  },
];

const gone = (view: View): readonly string[] => [
  ...view.remembered.instances.map(({ group }) => `${group} is left`),
  ...compiledOnce(view, "lib", "server"),
];

export const DELETIONS_WITH_JOBS: readonly CrashScenario[] = [
  {
    name: "jobs: delete deployment",
    cpi: remembers,
    before: [...uploaded, deployed()],
    move: { task: deleteTask() },
    expects: gone,
  },
];
