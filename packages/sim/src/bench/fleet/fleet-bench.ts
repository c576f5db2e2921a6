import { mkdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { HealthMonitor } from "@slipway/director/health/monitor";
import { type HealthSettings, healthSettings } from "@slipway/director/health/settings";
import type { InstanceHealth } from "@slipway/director/health/snapshot";
import { openAgents } from "@slipway/director/start/cpis-and-agents";
import { saveConfig } from "@slipway/director/store/configs";
import type { TransportName } from "@slipway/engine/agents/agent";
import { openAgentSecret } from "@slipway/engine/agents/credentials";
import { openAuthority } from "@slipway/engine/pki/authority";
import type { Clock } from "@slipway/kernel/clock";
import { freePort } from "@slipway/kernel/ports";
import type { Random } from "@slipway/kernel/random";
import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import type { Networks } from "@slipway/protocol/settings/networks";
import { deployTask } from "../../crash/scenarios/tasks.ts";
import { directorInSim } from "../../director/director-in-sim.ts";
import { CLOUD_CONFIG } from "../../director/manifests.ts";
import { seed } from "../../director/seed.ts";
import { simCpi } from "../../world/sim-cpi.ts";
import { SimWorld } from "../../world/world.ts";
import { type Opened, withStore } from "../database.ts";
import { cpuOf } from "../effort.ts";
import { runTask } from "../run-task.ts";
import { AgentsChild } from "./agents-child.ts";
import { bareHeartbeats, barePolls } from "./bare.ts";
import { cpuMs } from "./cpu.ts";
import { fillFleet } from "./fill-fleet.ts";
import { type MbusEnv, NEW_VMS } from "./orders.ts";

interface Form {
  readonly settings: HealthSettings;
  /** Milliseconds between heartbeats. */
  readonly beatMs: number;
  readonly bareMs: number;
  readonly barePolls: number;
  readonly windowMs: number;
}

const FULL: Form = {
  settings: healthSettings(),
  beatMs: 30_000,
  bareMs: 15_000,
  barePolls: 300,
  windowMs: 60_000,
};
/** A minute is four seconds. */
const QUICK: Form = {
  settings: { ...FULL.settings, limits: { intervalMs: 2_000, silentMs: 4_000 } },
  ...{ beatMs: 2_000, bareMs: 2_000, barePolls: 20, windowMs: 4_000 },
};

export interface FleetRequest {
  readonly transport: TransportName;
  readonly agents: number;
  readonly quick: boolean;
  /** True if an agent dies in the end, which takes a minute and a half. */
  readonly death: boolean;
}

export interface FleetReport {
  readonly agents: number;
  /** Time from the start of the monitor until all agents were seen to be well. */
  readonly seenMs: number;
  readonly windowMs: number;
  /** Heartbeats heard, and agents asked for their state, in that time. */
  readonly heard: number;
  readonly asked: number;
  /** Processor time in that time: of this process, of the database's, of the NATS server. */
  readonly ownCpuMs: number;
  readonly databaseCpuMs: number;
  readonly natsCpuMs: number;
  /** Age of the oldest last heartbeat or poll of an agent. */
  readonly oldestMs: number;
  readonly residentMib: number;
  readonly peakMib: number;
  /** Processor time of a heartbeat, or a poll, in a process that does nothing else. */
  readonly bareMs: number;
  /** Time from the death of an agent until it is noticed, and until its instance is well with a new VM. */
  readonly noticedMs?: number;
  readonly healedMs?: number;
}

/** A Director's monitor, tasks, ways to agents and store, with as many agents on real sockets. */
export function fleetBench(
  given: FleetRequest,
  tools: { readonly clock: Clock; readonly random: Random },
): Promise<FleetReport> {
  const { clock } = tools;
  return withStore(clock, (opened, owned) =>
    measure(
      given,
      tools,
      opened,
      (close) =>
        void owned.open(
          () => Promise.resolve(),
          async () => close(),
        ),
    ),
  );
}

async function measure(
  { transport, agents: count, quick, death }: FleetRequest,
  { clock, random }: Parameters<typeof fleetBench>[1],
  { dir, database, store }: Opened,
  atClose: (close: () => Promise<void> | void) => void,
): Promise<FleetReport> {
  const form = quick ? QUICK : FULL;
  const onError = (error: unknown) => void process.stderr.write(`${String(error)}\n`);
  const port = await freePort(random);
  const onBus = transport === "nats";
  const natsUrl = `nats://127.0.0.1:${port}`;
  await fillFleet(database.connection, count, (ip) => (onBus ? natsUrl : `https://${ip}:${port}`));
  const authority = await openAuthority({ dir: join(dir, "pki"), clock, random });
  const secret = await openAgentSecret({ dir, random });
  const config = onBus
    ? { agent: { transport }, nats: { server: { port }, blobs: { port: await freePort(random) } } }
    : { agent: { port } };
  const { agents, bus } = await openAgents({
    ...{ config, stateDir: dir, directorUuid: "fleet", authority, secret, db: store.db, clock, random },
    ...{ log: onError, onError, atClose },
  });
  const child = new AgentsChild();
  atClose(() => child.stop());
  await child.tell({ kind: "many", transport, count, stateDir: dir, port, beatMs: form.beatMs });
  const bareMs = onBus
    ? await bareHeartbeats(natsUrl, authority, clock, form.bareMs)
    : await barePolls(port, authority, clock, Math.min(count, form.barePolls));

  const world = new SimWorld();
  await seed(world, store.db);
  const cloud = CLOUD_CONFIG.replace("10.0.0.0/16", NEW_VMS).replaceAll("10.0.0.", "127.99.0.");
  await saveConfig(store.db, { type: "cloud", name: "fleet", content: cloud });
  const director = directorInSim({
    ...{ store, clock, random, agents, onError },
    uploadsDir: await made(join(dir, "uploads")),
    // On a busy machine a server with thousands of clients takes a while until it knows another.
    settings: { agentWaitMs: 300_000 },
    clients: { cpi: cpiOf(world, child), ask: () => Promise.reject(new Error("bug: asked of the world")) },
  });
  director.start();
  atClose(() => director.stop());
  const canary = deployTask({ name: "canary", groups: [{ name: "web", instances: 2 }] });
  const ids = { ...canary, params: { ...canary.params, cloud_config_ids: [3] } };
  await runTask(director, store, ids, clock);

  const monitor = new HealthMonitor({
    ...{ db: store.db, tasks: director, agents, channel: bus, clock, random, onError },
    ...{ settings: form.settings, sinks: [] },
  });
  monitor.start();
  atClose(() => monitor.stop());
  const seen = () => monitor.snapshot()?.instances ?? [];
  const until = async (what: string, is: () => boolean): Promise<number> => {
    const begun = clock.monotonic();
    while (!is()) {
      if (clock.monotonic() - begun > 600_000) throw new Error(`${what} does not come about`);
      await clock.sleep(20);
    }
    return clock.monotonic() - begun;
  };
  const allWell = () =>
    seen().length === count + 2 && seen().every(({ verdict }) => verdict.status === "healthy");
  const seenMs = await until("that all are well", allWell);

  const server = onBus ? Number(JSON.parse(await readFile(join(dir, "nats/process.json"), "utf8")).pid) : 0;
  const spent = async () => ({
    own: cpuMs(),
    database: cpuOf(database.pid()),
    nats: onBus ? cpuOf(server) : 0,
    heard: monitor.snapshot()?.heard?.messages.heartbeat ?? 0,
    asked: (await child.tell({ kind: "count" })).asked,
    at: clock.monotonic(),
  });
  const before = await spent();
  await clock.sleep(form.windowMs);
  const after = await spent();
  const residentMib = process.memoryUsage.rss() / (1 << 20);
  const oldestMs = Math.max(...seen().map(({ known }) => clock.now() - (known?.answered?.at ?? 0)));

  const patient = () => seen().find(({ watched }) => watched.deployment === "canary") as InstanceHealth;
  const lost = patient().watched.vm;
  const dies = async () => {
    await child.tell({ kind: "end", agentId: lost?.agentId ?? "" });
    const noticedMs = await until("that it is noticed", () => patient().verdict.status === "unresponsive");
    const restMs = await until("that it is healed", () => {
      const { watched, verdict } = patient();
      return verdict.status === "healthy" && watched.vm !== undefined && watched.vm.cid !== lost?.cid;
    });
    return { noticedMs, healedMs: noticedMs + restMs };
  };
  return {
    agents: count,
    seenMs,
    windowMs: after.at - before.at,
    heard: after.heard - before.heard,
    asked: after.asked - before.asked,
    ownCpuMs: after.own - before.own,
    databaseCpuMs: after.database - before.database,
    natsCpuMs: after.nats - before.nats,
    oldestMs,
    residentMib,
    peakMib: process.resourceUsage().maxRSS / 1024,
    bareMs,
    ...(death && (await dies())),
  };
}

async function made(dir: string): Promise<string> {
  await mkdir(dir, { recursive: true });
  return dir;
}

/** The world's CPI. A VM that it makes or deletes has its agent in the process of the agents. */
function cpiOf(world: SimWorld, child: AgentsChild): (request: CpiRequest) => Promise<CpiResponse> {
  const cpi = embed(simCpi(world));
  return async (request) => {
    const [first] = request.arguments;
    const gone = request.method === "delete_vm" ? world.vms.get(String(first)) : undefined;
    const response = await cpi.request(request);
    if (gone !== undefined) await child.tell({ kind: "end", agentId: gone.agentId });
    if (request.method !== "create_vm" || response.error !== null) return response;
    const [, , , networks, , env] = request.arguments as [string, string, object, Networks, unknown, Env];
    const [network] = Object.values(networks);
    await child.tell({ kind: "one", agentId: String(first), ip: network?.ip ?? "", mbus: env.bosh.mbus });
    return response;
  };
}

interface Env {
  readonly bosh: { readonly mbus: MbusEnv };
}
