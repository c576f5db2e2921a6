import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { embed } from "@slipway/cpi-sdk/embed";
import { type Answer, type Harness, type Sent, startHarness } from "@slipway/director/api/testing/harness";
import { openStore } from "@slipway/director/store/open";
import { rubyFile } from "@slipway/engine/templates/ruby-module";
import { WasmRenderer } from "@slipway/engine/templates/wasm-renderer";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { bundle } from "@slipway/testkit/bundle";
import { freshDatabase } from "@slipway/testkit/database";
import { eventually } from "@slipway/testkit/eventually";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { blobsInSim, directorInSim } from "../../director/director-in-sim.ts";
import { releaseArchive } from "../../director/release-archive.ts";
import { seed } from "../../director/seed.ts";
import { simSealer } from "../../director/sim-sealer.ts";
import { askSimAgent } from "../../world/sim-agent.ts";
import { simAgents } from "../../world/sim-agents.ts";
import { simCpi } from "../../world/sim-cpi.ts";
import { SimWorld } from "../../world/world.ts";

/** Every name and value of team a holds this, in one case or another. */
export const CANARY = "canary-a";
/** Deployments of the two teams. */
export const A = "canary-a-deployment";
export const B = "beta";

/** Password `NAME-pw`, as the harness has it. */
const SCOPES: Readonly<Record<string, readonly string[]>> = {
  admin: ["bosh.admin"],
  ada: ["bosh.teams.a.admin"],
  bob: ["bosh.teams.b.admin"],
  ben: ["bosh.teams.b.read"],
  uploader: ["bosh.releases.upload", "bosh.stemcells.upload"],
  stranger: [],
};

/** Everybody who must see nothing of team a; null is a caller without credentials. */
export const OTHERS = ["bob", "ben", "uploader", "stranger", null] as const;

/** Its template runs the Ruby of a property, so that a manifest can try anything that a template can. */
const RELEASE = {
  name: "tenant",
  version: "1",
  packages: [],
  jobs: [
    {
      name: "app",
      monit: "",
      spec: {
        templates: { "config.erb": "config" },
        properties: { password: {}, code: { default: "" } },
        provides: [{ name: "app", type: "app", properties: ["password"] }],
        consumes: [{ name: "peer", type: "app", optional: true }],
      },
      templates: { "config.erb": '<%= p("password") %> <%= eval(p("code")) %>' },
    },
  ],
};

export interface Deployed {
  readonly name: string;
  readonly group: string;
  readonly password: string;
  readonly code?: string;
  readonly consumes?: object;
  readonly variables?: readonly object[];
  readonly tags?: object;
}

export const manifestOf = (one: Deployed): string =>
  JSON.stringify({
    name: one.name,
    tags: one.tags ?? {},
    releases: [{ name: "tenant", version: "1" }],
    stemcells: [{ alias: "default", os: "sim-os", version: "1.1" }],
    update: { canaries: 1, max_in_flight: 1, canary_watch_time: "0-1000", update_watch_time: "0-1000" },
    variables: one.variables ?? [],
    instance_groups: [
      {
        ...{ name: one.group, instances: 1, azs: ["z1"], vm_type: "small", stemcell: "default" },
        ...{ networks: [{ name: "private" }], persistent_disk_type: "d1", env: { note: one.password } },
        jobs: [
          {
            ...{ name: "app", release: "tenant", consumes: { peer: one.consumes ?? "nil" } },
            provides: { app: { as: `${one.group}-link` } },
            properties: { password: one.password, code: one.code ?? "" },
          },
        ],
      },
    ],
  });

export interface TeamTask {
  readonly id: string;
  readonly state: string;
  readonly result: string;
  /** Its events, with errors in full. */
  readonly said: string;
}

export interface TwoTeams {
  readonly api: Harness;
  readonly world: SimWorld;
  /** Sends a request that starts a task, and waits for its end. */
  task(user: string, method: string, path: string, sent?: Sent): Promise<TeamTask>;
  deploy(user: string, deployed: Deployed, query?: string): Promise<TeamTask>;
  close(): Promise<void>;
}

/** The real API, tasks, plans, store and built-in Ruby, with a simulated cloud and agents, over HTTPS. */
export async function twoTeams(): Promise<TwoTeams> {
  const { path: root, remove } = await temporaryDirectory();
  const uploadsDir = join(root, "uploads");
  await mkdir(uploadsDir);
  const database = await freshDatabase();
  const store = await openStore({ sealer: simSealer, connection: database.connection });
  const program = fileURLToPath(import.meta.resolve("@slipway/engine/templates/render-worker"));
  const worker = await bundle(program, { format: "esm" });
  const ruby = rubyFile(import.meta.url);
  const renderer = new WasmRenderer({ worker, ruby, clock: systemClock, threads: 1, limit: 119_000 });
  const world = new SimWorld();
  await seed(world, store.db);
  // Deployments use all cloud configs that they may see, and this one is an alternative to the other.
  await store.db.deleteFrom("configs").where("name", "=", "reusing").execute();
  const cpi = embed(simCpi(world));
  const errors: unknown[] = [];
  const ask = (...message: [string, string, readonly unknown[]]) =>
    Promise.resolve(askSimAgent(world, ...message));
  const runner = directorInSim({
    store,
    clients: { cpi: (request) => cpi.request(request), ask },
    ...{ clock: systemClock, random: systemRandom, uploadsDir, renderer, dns: true, enableSnapshots: true },
    onError: (error) => errors.push(error),
  });
  runner.start();
  const api = await startHarness({
    db: store.db,
    tasks: runner,
    agents: simAgents(ask, systemClock),
    uploadsDir,
    blobs: blobsInSim(uploadsDir),
    users: Object.entries(SCOPES).map(([name, scopes]) => ({ name, password: `${name}-pw`, scopes })),
  });
  const task: TwoTeams["task"] = async (user, method, path, sent = {}) =>
    await ended(api, await api.ask(method, path, { ...sent, user }));
  return {
    api,
    world,
    task,
    deploy: (user, deployed, query = "") =>
      task(user, "POST", `/deployments${query}`, { type: "text/yaml", body: manifestOf(deployed) }),
    close: async () => {
      await api.close();
      await runner.stop();
      await renderer.close();
      await store.close();
      await database.close();
      await remove();
    },
  };
}

/** The same task, which must have ended well. */
export function done(task: TeamTask): TeamTask {
  if (task.state !== "done") throw new Error(`the task ended as ${task.state}: ${task.said}`);
  return task;
}

const OVER = new Set(["done", "error", "cancelled", "timeout"]);

async function ended(api: Harness, { headers, status, body }: Answer): Promise<TeamTask> {
  if (status !== 302) throw new Error(`no task was started: ${status} ${body}`);
  const id = String(headers.location).split("/").at(-1) ?? "";
  return await eventually(`the end of task ${id}`, async () => {
    const now = (await api.get(`/tasks/${id}`)).json as TeamTask;
    if (!OVER.has(now.state)) return undefined;
    return { ...now, id, said: (await api.get(`/tasks/${id}/output?type=event`)).body };
  });
}

export const uploadTenantRelease = async ({ task }: TwoTeams): Promise<TeamTask> =>
  await task("admin", "POST", "/releases", {
    type: "application/x-compressed",
    body: await releaseArchive(RELEASE),
  });
