// npm run bench:director: starts, plans and deploys of the Director, on a cloud and agents that cost nothing.
// --against DIR measures another checkout beside this one instead; --instances N says with how many new instances.
import { parseArgs } from "node:util";
import { against } from "./director-against.mjs";
import { apiTimes } from "./director-api.mjs";
import { partsInTurn, startTimes } from "./director-start.mjs";
import { quick, report } from "./judge.mjs";

const { values: given } = parseArgs({
  options: {
    ...{ quick: { type: "boolean" }, json: { type: "boolean" } },
    ...{ against: { type: "string" }, instances: { type: "string" } },
  },
});
if (given.against !== undefined)
  process.exit((await against(given.against, Number(given.instances ?? (quick ? 40 : 1000)))) ? 0 : 1);

const SIZES = quick ? [20, 40] : [100, 1000, 10_000];
const ROUNDS = quick ? 1 : 3;
/** The largest deploy is made smaller when it would take longer. */
const LONGEST_DEPLOY_S = 300;
const DEPLOYMENTS = 1000;
const EVENTS = quick ? 20_000 : 1_000_000;
/** 20 and 10 ms of processor time for the list, 15 and 5 for a page of events, where an empty program took 78. */
const LISTED = { own: 0.26, database: 0.13 };
const PAGED = { own: 0.19, database: 0.065 };
const GOALS = { freshMs: 1500, laterMs: 1000, filledMs: 3000, planMs: 1000, planMib: 512 };
/** Between linear and quadratic. */
const STEEPEST = 1.5;

const best = (values) => Math.min(...values);
const ms = (n) => (n < 10_000 ? `${n.toFixed(n < 10 ? 1 : 0)} ms` : `${(n / 1000).toFixed(1)} s`);
const count = (n) => n.toLocaleString("en-US");

/** Slope of the logarithms: 1 is linear, 2 is quadratic. */
function exponent(points) {
  const logs = points.map(([n, value]) => [Math.log(n), Math.log(value)]);
  const mean = (at) => logs.reduce((sum, pair) => sum + pair[at], 0) / logs.length;
  const [x, y] = [mean(0), mean(1)];
  const over = logs.reduce((sum, pair) => sum + (pair[0] - x) * (pair[1] - y), 0);
  return over / logs.reduce((sum, pair) => sum + (pair[0] - x) ** 2, 0);
}

/** A fresh process each time: a Director plans cold. */
async function plans(size) {
  const seen = await partsInTurn(ROUNDS, "plan", [size, 1]);
  return {
    size,
    fresh: best(seen.map(({ newMs }) => newMs[0])),
    same: best(seen.map(({ sameMs }) => sameMs[0])),
    peakMib: Math.max(...seen.map(({ peakMib }) => peakMib)),
  };
}

async function deploys(size, rounds) {
  const seen = await partsInTurn(rounds, "deploy", [size]);
  const fastest = seen.reduce((one, other) => (other.create.ms < one.create.ms ? other : one));
  return { ...fastest, size, sameMs: best(seen.map(({ same }) => same.ms)) };
}

const start = await startTimes({ rounds: ROUNDS, later: ROUNDS, deployments: DEPLOYMENTS });
const api = await apiTimes({ deployments: DEPLOYMENTS, events: EVENTS, rounds: ROUNDS });
const planned = [];
for (const size of SIZES) planned.push(await plans(size));
const deployed = [];
for (const size of SIZES) {
  const { size: before, create } = deployed.at(-1) ?? { size: 1, create: { ms: 0 } };
  const perSecond = before / (create.ms / 1000);
  const fits = Math.floor((LONGEST_DEPLOY_S * perSecond) / 1000) * 1000;
  deployed.push(await deploys(Math.min(size, Math.max(1000, fits)), quick || size > 1000 ? 1 : 2));
}

const goal = (what, value, most, unit) => ({
  what,
  ours: unit === "ms" ? ms(value) : `${value.toFixed(0)} ${unit}`,
  baseline: `${unit === "ms" ? ms(most) : `${most} ${unit}`} goal`,
  ratio: value / most,
  // One round says nothing of seconds on a machine with others: the quick form judges the same by ratios to what it measures.
  ...(!(quick && unit === "ms") && { limit: 1, atMost: true }),
});
const beside = (what, value, baseline, name, limit, more = {}) => ({
  what,
  ours: ms(value),
  baseline: `${ms(baseline)} ${name}`,
  ratio: value / baseline,
  ...(limit !== undefined && { limit, atMost: true }),
  ...more,
});
/** Of processor time, which other programs of the machine disturb less. */
const cpu = (...row) => beside(...row, { slack: 2 });
const growth = (what, points) => ({
  what: `${what}, growth ${points.map(([n]) => count(n)).join(", ")}`,
  ours: `n^${exponent(points).toFixed(2)}: ${points.map(([, value]) => ms(value)).join(", ")}`,
  baseline: "n^1",
  ratio: exponent(points),
  limit: STEEPEST,
  atMost: true,
});

const largest = planned.at(-1);
const middle = deployed[1];
const { create } = middle;
const n = middle.size;
const bothMs = create.ownCpuMs + create.serverCpuMs;
const each = (what, value, baseline, limit) => ({
  what: `  ${what} per instance`,
  ours: value.toFixed(1),
  baseline,
  ratio: value,
  limit,
  atMost: true,
  slack: 1,
});
const question = (what, { own, database }, limits) => [
  cpu(what, own, api.node, "node -e 0", limits.own),
  cpu("  the database's", database, api.node, "node -e 0", limits.database),
];
const rows = [
  beside("start to /info, fresh", start.fresh, start.node, "node -e 0"),
  cpu("  its own processor time", start.freshCpu, start.nodeCpu, "node -e 0", 10),
  beside("start to /info, fresh", start.fresh, start.databaseFresh, "its database alone", 2),
  goal("start to /info, fresh", start.fresh, GOALS.freshMs, "ms"),
  beside("start to /info, later", start.later, start.node, "node -e 0", 15),
  cpu("  its own processor time", start.laterCpu, start.nodeCpu, "node -e 0", 8),
  beside("start to /info, later", start.later, start.databaseLater, "its database alone", 6),
  goal("start to /info, later", start.later, GOALS.laterMs, "ms"),
  beside(`start to /info, ${count(DEPLOYMENTS)} deployments`, start.filled, start.later, "with one", 1.5),
  cpu("  its own processor time", start.filledCpu, start.laterCpu, "with one", 1.2),
  goal(`start to /info, ${count(DEPLOYMENTS)} deployments`, start.filled, GOALS.filledMs, "ms"),
  ...question(`GET /deployments, ${count(DEPLOYMENTS)} of them`, api.asked.deployments, LISTED),
  ...Object.entries(api.asked)
    .filter(([name]) => name !== "deployments")
    .flatMap(([name, one]) => question(`GET /events by ${name}, of ${count(EVENTS)}`, one, PAGED)),
  goal(`plan of ${count(largest.size)} new instances`, largest.fresh, GOALS.planMs, "ms"),
  goal(`plan of ${count(largest.size)} unchanged instances`, largest.same, GOALS.planMs, "ms"),
  beside(
    `plan of ${count(largest.size)} new instances`,
    largest.fresh,
    start.node,
    "node -e 0",
    quick ? 1 : 25,
  ),
  goal("peak memory of both plans", largest.peakMib, GOALS.planMib, "MiB"),
  {
    what: `deploy of ${count(n)} new instances`,
    ours: `${((1000 * n) / create.ms).toFixed(0)} /s`,
    baseline: `${middle.commitsPerSecond.toFixed(0)} /s bare commits`,
    ratio: (1000 * n) / create.ms / middle.commitsPerSecond,
    limit: 0.04,
    // By the wall, and the two at different times: a lost factor shows in the rows of processor time.
    slack: 10,
  },
  each("statements", create.statements / n, "1 commit", 15),
  each("round trips to the database", create.roundTrips / n, "1 commit", 15),
  beside("  database's processor time per instance", create.serverCpuMs / n, bothMs / n, "with the Director"),
  cpu("  the same", create.serverCpuMs / n, start.nodeCpu, "node -e 0", quick ? 0.15 : 0.05),
  beside("  our own processor time per instance", create.ownCpuMs / n, bothMs / n, "with the database"),
  cpu("  the same", create.ownCpuMs / n, start.nodeCpu, "node -e 0", quick ? 0.35 : 0.1),
  beside("  time with a statement under way", create.askedMs, create.ms, "in all"),
  beside(`deploy of ${count(n)} unchanged instances`, middle.sameMs, create.ms, "new ones", 0.2),
  growth(
    "plan, new",
    planned.map(({ size, fresh }) => [size, fresh]),
  ),
  growth(
    "plan, unchanged",
    planned.map(({ size, same }) => [size, same]),
  ),
  growth(
    "deploy, new",
    deployed.map((one) => [one.size, one.create.ms]),
  ),
  growth(
    "deploy, unchanged",
    deployed.map((one) => [one.size, one.sameMs]),
  ),
];
const ok = report(`Director benchmarks on Node ${process.version}, best of the rounds`, rows);
process.exitCode = ok ? 0 : 1;
