// Pings over a real nats-server: our agent beside a bare responder that is made with the same library.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { startAgent } from "../tools/start-agent.mjs";
import { BUS_AGENT, natsInstalled, startNats } from "../tools/start-nats.mjs";
import { quick } from "./judge.mjs";
import { median, scratchDir, startNode } from "./measure.mjs";

/** The agent's own copy; the benchmarks depend on nothing themselves. */
const NAME = "@nats-io/transport-node";
const require = createRequire(new URL("../packages/agent/package.json", import.meta.url));
const LIBRARY = require.resolve(NAME);
const { connect } = require(LIBRARY);
const AT_ONCE = 8;

/** Answers every request with pong and does nothing else. */
const BARE = `
const [library, servers, id, ...files] = process.argv.slice(1);
const { connect } = require(library);
const [ca, cert, key] = files.map((file) => require("fs").readFileSync(file, "utf8"));
connect({ servers, tls: { ca, cert, key } }).then(async (bus) => {
  bus.subscribe("agent." + id, { callback: (_, message) => {
    bus.publish(JSON.parse(message.string()).reply_to, '{"value":"pong"}');
  } });
  await bus.flush();
  console.log("ready");
});
`;

async function startBare(nats) {
  const { ca, agent } = nats;
  const args = ["-e", BARE, LIBRARY, `127.0.0.1:${nats.port}`, BUS_AGENT, ca, agent.cert, agent.key];
  const child = startNode(args, { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise((resolve, reject) => {
    child.stdout.once("data", resolve);
    child.once("exit", (code) => reject(new Error(`the bare responder ended with ${code}`)));
  });
  return { stop: () => child.kill("SIGKILL") };
}

/** Asks as a Director does, each request with a reply subject of its own. */
async function directorOn(nats) {
  const read = (file) => readFileSync(file, "utf8");
  const { director, ca } = nats;
  const tls = { ca: read(ca), cert: read(director.cert), key: read(director.key) };
  const bus = await connect({ servers: `127.0.0.1:${nats.port}`, tls });
  const waiting = new Map();
  bus.subscribe("director.bench.>", { callback: (_, message) => waiting.get(message.subject)?.() });
  await bus.flush();
  let next = 0;
  const ping = () =>
    new Promise((resolve) => {
      const subject = `director.bench.${BUS_AGENT}.${next++}`;
      waiting.set(subject, () => {
        waiting.delete(subject);
        resolve();
      });
      const body = { protocol: 3, method: "ping", arguments: [], reply_to: subject };
      bus.publish(`agent.${BUS_AGENT}`, JSON.stringify(body));
    });
  const perSecond = async (count = quick ? 100 : 3000) => {
    let left = count;
    const client = async () => {
      while (left-- > 0) await ping();
    };
    const begun = process.hrtime.bigint();
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    return count / (Number(process.hrtime.bigint() - begun) / 1e9);
  };
  /** Nobody hears a ping before the agent is there. */
  const answered = async () => {
    for (;;) {
      const silence = new Promise((resolve) => setTimeout(() => resolve("silence"), 200));
      if ((await Promise.race([ping(), silence])) !== "silence") return;
    }
  };
  return { perSecond, answered, stop: () => bus.close() };
}

/** Answers per second, ours and bare; undefined where there is no nats-server. */
export async function natsPings(rounds) {
  if (!natsInstalled()) return undefined;
  const started = [];
  const keep = (one) => {
    started.push(one);
    return one;
  };
  try {
    const ours = keep(await startNats(scratchDir("nats-ours")));
    const bare = keep(await startNats(scratchDir("nats-bare")));
    keep(await startAgent(scratchDir("agent-on-nats"), ours.agentSettings));
    keep(await startBare(bare));
    const directors = { ours: keep(await directorOn(ours)), bare: keep(await directorOn(bare)) };
    const rates = { ours: [], bare: [] };
    for (const director of Object.values(directors)) {
      await director.answered();
      await director.perSecond();
    }
    for (let round = 0; round < rounds; round++)
      for (const [who, director] of Object.entries(directors)) rates[who].push(await director.perSecond());
    return { ours: median(rates.ours), bare: median(rates.bare) };
  } finally {
    for (const one of started.reverse()) await one.stop();
  }
}
