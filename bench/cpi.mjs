// npm run bench:cpi: what one CPI call costs, as an executable and in the process, and the registry under load.
import { embed } from "@slipway/cpi-sdk/embed";
import { tinyCpi } from "../examples/tiny-cpi/dist/tiny-cpi.js";
import { quick, report } from "./judge.mjs";
import { inTurns, median, peakMemory, scratchDir, wallTime } from "./measure.mjs";
import { pairsPerSecond, startBoth } from "./registry-load.mjs";

const ROUNDS = quick ? 2 : 30;
const EXECUTABLE = ["examples/tiny-cpi/dist/cpi.cjs"];
const INFO = { method: "info", arguments: [], context: { director_uuid: "bench" } };
const stdin = JSON.stringify(INFO);

const time = await inTurns(ROUNDS, {
  node: () => wallTime(["-e", "0"]),
  info: () => wallTime(EXECUTABLE, stdin),
});
const memory = await inTurns(quick ? 1 : 10, {
  node: () => peakMemory(["-e", "0"]),
  info: () => peakMemory(EXECUTABLE, stdin),
});

// What the SDK costs, not what a cloud costs: this one answers from memory, where info needs no cloud either.
const fromMemory = { ...tinyCpi, methods: { ...tinyCpi.methods, hasDisk: () => true } };
const client = embed(fromMemory, { config: { tiny: { dir: scratchDir("cloud") } } });
const HAS_DISK = {
  method: "has_disk",
  arguments: ["disk-1"],
  context: { director_uuid: "bench", request_id: "cpi-1", vm: { stemcell: { api_version: 2 } } },
  api_version: 2,
};
const inProcess = await perCall(HAS_DISK, quick ? 100 : 5000);

async function perCall(request, calls) {
  for (let i = 0; i < 500; i++) await client.request(request);
  const start = process.hrtime.bigint();
  for (let i = 0; i < calls; i++) {
    const reply = await client.request(request);
    if (reply.error !== null) throw new Error(reply.error.message);
  }
  return Number(process.hrtime.bigint() - start) / 1e6 / calls;
}

const servers = await startBoth();
const load = { 1: { bare: [], ours: [] }, 16: { bare: [], ours: [] } };
for (let round = 0; round < (quick ? 1 : 5); round++) {
  for (const clients of [1, 16]) {
    for (const name of ["bare", "ours"]) {
      const pairs = quick ? 16 : clients === 1 ? 150 : 600;
      load[clients][name].push(await pairsPerSecond(servers[name].port, clients, pairs));
    }
  }
}
servers.bare.stop();
servers.ours.stop();

const ms = (n) => `${n.toFixed(n < 1 ? 3 : 1)} ms`;
const registryRow = (clients) => {
  const ours = median(load[clients].ours);
  const bare = median(load[clients].bare);
  const what = `registry, PUT+GET pairs, ${clients} client${clients === 1 ? "" : "s"}`;
  return {
    what,
    ours: `${ours.toFixed(0)} /s`,
    baseline: `${bare.toFixed(0)} /s bare http + fsync`,
    ratio: ours / bare,
    limit: 0.5,
  };
};
const ok = report(`CPI benchmarks on Node ${process.version}, medians of ${ROUNDS} rounds in turns`, [
  {
    what: "info as an executable",
    ours: ms(time.info),
    baseline: `${ms(time.node)} node -e 0`,
    ratio: time.info / time.node,
    limit: 1.5,
    atMost: true,
  },
  {
    what: "in-process call, checked both ways",
    ours: ms(inProcess),
    baseline: `${ms(time.info)} executable`,
    ratio: time.info / inProcess,
    limit: 300,
  },
  {
    what: "peak memory of the executable",
    ours: `${memory.info.toFixed(1)} MiB`,
    baseline: `${memory.node.toFixed(1)} MiB node -e 0`,
    ratio: memory.info / memory.node,
    limit: 1.3,
    atMost: true,
  },
  registryRow(1),
  registryRow(16),
]);
process.exitCode = ok ? 0 : 1;
