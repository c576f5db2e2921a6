// npm run bench:releases: templates, uploads and deploys with jobs. --json prints the rows for programs.
import { existsSync } from "node:fs";
import { parseArgs } from "node:util";
import { part } from "./director-start.mjs";
import { quick, report } from "./judge.mjs";
import { uploadTimes } from "./releases-upload.mjs";

parseArgs({ options: { quick: { type: "boolean" }, json: { type: "boolean" } } });

const JOBS = 5;
const RENDERED = quick ? 20 : 300;
const UPLOAD_MIB = quick ? 20 : 500;
const INSTANCES = quick ? 10 : 50;
/** Jobs of the instances whose deploys are compared, of three templates each. */
const DEPLOYED_JOBS = 2;
const SIZES = quick ? [10, 20] : [10, 100, 1000];
const RUBY = "/usr/bin/ruby";
/** Above what the Director holds when it is idle. */
const MOST_MIB = 150;
/** Processor time of a start from the snapshot, against a boot: measured 0.21 and 0.17. */
const COLD_START = 0.35;
const NEXT_START = 0.3;
/** Of 50 jobs with 200 templates, against a boot: measured 0.17, and 0.36 where V8 collects garbage whenever the memory grows. */
const WARM_JOBS = 0.28;
const THREAD_MIB = 80;
/** By the wall: measured 3.4. */
const UPLOAD = 6;
/** Processor time of one instance of the most, against one of ten times fewer. */
const STEEPEST = 1.5;

const count = (n) => n.toLocaleString("en-US");
const ms = (n) => (n < 10_000 ? `${n.toFixed(n < 10 ? 1 : 0)} ms` : `${(n / 1000).toFixed(1)} s`);
const rate = (n) => `${n.toFixed(n < 10 ? 1 : 0)} /s`;
const beside = (what, value, baseline, name, more = {}) => ({
  what,
  ours: ms(value),
  baseline: `${ms(baseline)} ${name}`,
  ratio: value / baseline,
  ...more,
});

async function templateRows() {
  const ruby = existsSync(RUBY) ? RUBY : undefined;
  const seen = await part("templates", [RENDERED, ...(ruby === undefined ? [] : [ruby])]);
  const { one, all, threads, warm, each, configured, version } = seen;
  const row = (what, ours, baseline, name) => ({
    what,
    ours: rate(ours),
    baseline: `${rate(baseline)} ${name}`,
    ratio: ours / baseline,
  });
  const rows = [
    row(`templates, built-in Ruby, ${threads} threads`, all, one, "one thread"),
    ...startRows(seen),
  ];
  if (ruby === undefined) {
    console.error(`bench: there is no ${RUBY}; templates are not compared with it`);
    return rows;
  }
  return [
    ...rows,
    row("templates, built-in Ruby, one thread", one, warm, `one warm ruby ${version}`),
    row("templates, built-in Ruby, one thread", one, each, "a ruby for each template"),
    ...(configured === undefined
      ? []
      : [row("templates, `templates.ruby`", configured, each, "a ruby for each template")]),
  ];
}

/** Until a task's first job is rendered, in processor time, against a Ruby that boots in the same run. */
function startRows({ start, warmJobs, threadMib }) {
  const row = (what, value, limit) =>
    beside(`first job of the built-in Ruby, ${what}`, value, start.booted, "booted", {
      ...{ limit, atMost: true, slack: 1.5 },
    });
  return [
    row("from its snapshot", start.cold, COLD_START),
    row("in a further task", start.next, NEXT_START),
    beside("50 jobs, 200 templates, one thread that has rendered them", warmJobs, start.booted, "booted", {
      ...{ limit: WARM_JOBS, atMost: true, slack: 1.2 },
    }),
    {
      what: "  memory of a further thread",
      ours: `${threadMib.toFixed(0)} MiB`,
      baseline: `${THREAD_MIB} MiB goal`,
      ratio: threadMib / THREAD_MIB,
      limit: 1,
      atMost: true,
      slack: 1.2,
    },
  ];
}

async function uploadRows() {
  const { ms: took, copy, idle, peak, size } = await uploadTimes(UPLOAD_MIB, quick ? 1 : 3);
  return [
    beside(`upload of a release of ${size.toFixed(0)} MiB`, took, copy, "cp and sha256sum", {
      ...{ limit: UPLOAD, atMost: true },
    }),
    {
      what: "  peak memory of the Director above idle",
      ours: `${(peak - idle).toFixed(0)} MiB above ${idle.toFixed(0)}`,
      baseline: `${MOST_MIB} MiB goal`,
      ratio: (peak - idle) / MOST_MIB,
      limit: 1,
      atMost: true,
    },
  ];
}

/**
 * Processor seconds of a Ruby Director for the same work, 50 instances x 2 jobs x 3 templates, and what ours may take of them.
 * It was measured beside ours with NATS, real agents and a CPI in a process of its own, none of which is counted here: its
 * deploys without VMs to make (property, release, no change) compare best, though agents are simulated in them as well; the
 * others flatter ours.
 */
const RUBY_DIRECTOR = {
  create: { what: "new", seconds: 27.6 },
  recreate: { what: "recreated", seconds: 32.7 },
  property: { what: "another property", seconds: 9.2 },
  release: { what: "another release", seconds: 8.1 },
  same: { what: "nothing changed", seconds: 4.2 },
};
/** Processor time against that of the same deploy that renders all: measured 0.2, and 1 if the hash is lost. */
const UNCHANGED = 0.5;
/** The same against a new deploy: measured 0.7 for another property or release, 1.2 for a recreation. */
const CHANGED = 1;
const RECREATED = 1.7;

const processorMs = ({ ownCpuMs, serverCpuMs }) => ownCpuMs + serverCpuMs;

/** Processor time with the database's. Each deploy begins as after a minute's rest: without a Ruby. */
async function deployRows() {
  const seen = await part("jobs", [INSTANCES, DEPLOYED_JOBS, "ruby"]);
  const what = `deploy of ${count(INSTANCES)} instances x ${DEPLOYED_JOBS} jobs`;
  const row = (name, value, baseline, of, limit) =>
    beside(`${what}, ${name}`, processorMs(value), processorMs(baseline), of, {
      ...{ limit, atMost: true, slack: 1.3 },
    });
  return [
    beside(`${what}, new`, processorMs(seen.create), processorMs(seen.bare), "without jobs"),
    row("unchanged", seen.same, seen.rendered, "all rendered", UNCHANGED),
    row("another property", seen.property, seen.create, "new", CHANGED),
    row("another release", seen.release, seen.create, "new", CHANGED),
    row("recreated", seen.recreate, seen.create, "new", RECREATED),
    // The Ruby Director was measured with this size only.
    ...(quick ? [] : Object.entries(RUBY_DIRECTOR)).map(([key, { what: name, seconds }]) =>
      beside(
        `  ${name}, our own processor time`,
        seen[key].ownCpuMs,
        1000 * seconds,
        "a Ruby Director, see the source",
      ),
    ),
    beside(
      "deploy of one instance, all packages compiled",
      seen.compiled.ms,
      seen.uncompiled.ms,
      "none compiled",
    ),
  ];
}

/** Without a Ruby: what an instance costs the Director itself and its database. */
async function growthRows() {
  const cost = ({ ownCpuMs, serverCpuMs }, n) => (ownCpuMs + serverCpuMs) / n;
  const seen = [];
  for (const n of SIZES) seen.push({ n, ...(await part("jobs", [n, JOBS, "none"])) });
  const row = (kind, name) => {
    const each = seen.map((one) => cost(one[kind], one.n));
    const [before = 0, last = 0] = each.slice(-2);
    return {
      what: `processor time per instance, ${name}, ${SIZES.map(count).join(", ")}`,
      ours: each.map((one) => one.toFixed(1)).join(", "),
      baseline: `${before.toFixed(1)} ms at ${count(SIZES.at(-2))}`,
      ratio: last / before,
      limit: STEEPEST,
      atMost: true,
    };
  };
  return [
    ...[row("bare", "no jobs"), row("create", `new, ${JOBS} jobs`), row("same", "unchanged")],
    beside(
      "  with jobs",
      cost(seen.at(-1).create, SIZES.at(-1)),
      cost(seen.at(-1).bare, SIZES.at(-1)),
      "without",
    ),
  ];
}

const rows = [
  ...(await templateRows()),
  ...(await uploadRows()),
  ...(await deployRows()),
  ...(await growthRows()),
];
const ok = report(`Benchmarks of releases on Node ${process.version}`, rows);
process.exitCode = ok ? 0 : 1;
