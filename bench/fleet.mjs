// npm run bench:fleet: a Director and its fleet. Agents are light, many in a process of their own, and speak the real
// protocol over real sockets with mutual TLS; what watches, asks, hears and heals them is the Director's own.
import { readFileSync } from "node:fs";
import { natsInstalled } from "../tools/start-nats.mjs";
import { part } from "./director-start.mjs";
import { quick, report } from "./judge.mjs";

const GOALS = { mib: 512, cores: 1, noticedMs: 90_000, oldestMs: 45_000 };
/** Many times the agents, and so much more for each at most. */
const GROWTH = 1.5;
/** Over NATS the fleet that one core and half a GiB are to be enough for. */
const SMALL = { nats: 2_000, https: 1_000 };
const LARGE = 10_000;
/** Agents per thousand of the full form. */
const scaled = (agents) => (quick ? agents / 50 : fitting(agents));

/** Each agent over HTTPS listens, and may have a connection besides. */
function fitting(agents) {
  const [, , hard] = /Max open files\s+(\d+)\s+(\d+)/.exec(readFileSync("/proc/self/limits", "utf8")) ?? [];
  const most = Math.floor((Number(hard ?? 4096) - 1000) / 1.7);
  if (agents > most) console.error(`bench: ${most} agents in place of ${agents}: ulimit -n is ${hard}`);
  return Math.min(agents, most);
}

const measured = (transport, agents, ...death) =>
  part("fleet", [transport, scaled(agents), quick ? "quick" : "full", ...death]);
const count = (n) => n.toLocaleString("en-US");
const ms = (n) => (n < 10_000 ? `${n.toFixed(n < 10 ? 2 : 0)} ms` : `${(n / 1000).toFixed(1)} s`);
/** Intervals of the quick form are a fifteenth. */
const inForm = (goalMs) => (quick ? goalMs / 15 : goalMs);
const beside = (what, ours, baseline, ratio) => ({ what, ours, baseline, ratio });
const atMost = (what, ours, baseline, ratio, limit = 1) => ({
  what,
  ours,
  baseline,
  ratio,
  limit,
  atMost: true,
});

/** Processor time for each heartbeat, or each poll, with all that goes with it. */
const perMessage = ({ ownCpuMs, heard, asked }, transport) =>
  ownCpuMs / (transport === "nats" ? heard : asked);
const perAgentSecond = ({ ownCpuMs, agents, windowMs }) => (1000 * ownCpuMs) / agents / (windowMs / 1000);

function rowsOf(transport, fleet) {
  const who = `${count(fleet.agents)} agents over ${transport === "nats" ? "NATS" : "HTTPS"}`;
  const message = transport === "nats" ? "heartbeat" : "poll";
  const each = perMessage(fleet, transport);
  const cores = fleet.ownCpuMs / fleet.windowMs;
  const { windowMs, databaseCpuMs, natsCpuMs } = fleet;
  const others = (databaseCpuMs + natsCpuMs) / windowMs;
  return [
    atMost(`${who}: processor`, `${cores.toFixed(3)} cores`, `${GOALS.cores} core`, cores / GOALS.cores),
    beside(
      "  database and NATS server",
      `${others.toFixed(3)} cores`,
      `${cores.toFixed(3)} the Director`,
      // Less than the kernel counts, in the seconds of the quick form.
      Math.max(0.001, others / cores),
    ),
    beside(`  for each ${message}`, ms(each), `${ms(fleet.bareMs)} bare`, each / fleet.bareMs),
    // The goal is one of the small fleet; over HTTPS each agent of the large one has a connection that stays.
    (fleet.agents > scaled(SMALL.nats) ? beside : atMost)(
      "  peak memory",
      `${fleet.peakMib.toFixed(0)} MiB`,
      `${GOALS.mib} MiB`,
      fleet.peakMib / GOALS.mib,
    ),
    beside(
      "  start until all are seen",
      ms(fleet.seenMs),
      `${ms(inForm(30_000))} interval`,
      fleet.seenMs / inForm(30_000),
    ),
    atMost(
      "  longest unheard",
      ms(fleet.oldestMs),
      ms(inForm(GOALS.oldestMs)),
      fleet.oldestMs / inForm(GOALS.oldestMs),
    ),
    atMost(
      "  death until noticed",
      ms(fleet.noticedMs),
      `${ms(inForm(GOALS.noticedMs))} goal`,
      fleet.noticedMs / inForm(GOALS.noticedMs),
    ),
    beside(
      "  death until healed",
      ms(fleet.healedMs),
      `${ms(fleet.noticedMs)} until noticed`,
      fleet.healedMs / fleet.noticedMs,
    ),
  ];
}

function growthOf(transport, small, large) {
  const times = `${count(small.agents)} -> ${count(large.agents)} agents`;
  const cost = [small, large].map(perAgentSecond);
  const bytes = ((large.residentMib - small.residentMib) * 1024) / (large.agents - small.agents);
  const first = (small.residentMib * 1024) / small.agents;
  return [
    atMost(
      `${transport === "nats" ? "NATS" : "HTTPS"}, processor for each agent, ${times}`,
      `${cost[1].toFixed(1)} us/s`,
      `${cost[0].toFixed(1)} us/s`,
      cost[1] / cost[0],
      GROWTH,
    ),
    atMost(
      "  memory for each further agent",
      `${bytes.toFixed(1)} KiB`,
      `${first.toFixed(1)} KiB each of the first`,
      Math.max(0.001, bytes / first),
      GROWTH,
    ),
  ];
}

async function rowsOver(transport) {
  const [small, large] = await each([SMALL[transport], LARGE], (agents) =>
    measured(transport, agents, ...(transport === "nats" || agents === LARGE ? ["death"] : [])),
  );
  return [small, large]
    .filter(({ noticedMs }) => noticedMs !== undefined)
    .flatMap((fleet) => rowsOf(transport, fleet))
    .concat(growthOf(transport, small, large));
}

/** One after the other; all at once in the quick form, where mostly time passes and no figure is looked at. */
async function each(things, work) {
  if (quick) return await Promise.all(things.map(work));
  const done = [];
  for (const thing of things) done.push(await work(thing));
  return done;
}

const rows = (await each(natsInstalled() ? ["nats", "https"] : ["https"], rowsOver)).flat();
process.exitCode = report(`Fleet benchmarks on Node ${process.version}`, rows) ? 0 : 1;
