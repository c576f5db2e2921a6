// What questions of the API cost a Director with many deployments and events, and its database, in processor time.
import { readdirSync, readFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { inScratch, part, startDirector } from "./director-start.mjs";
import { cpuTime, cpuTimeOf, median } from "./measure.mjs";

/** Enough that the first ones, which find nothing compiled, count for little. */
const REPEATED = 20;

function get({ port, password }, path) {
  return new Promise((resolve, reject) => {
    const auth = `admin:${password}`;
    const options = { host: "127.0.0.1", port, path, auth, rejectUnauthorized: false, agent: false };
    const call = request(options, (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (chunk) => {
        text += chunk;
      });
      response.on("end", () =>
        response.statusCode === 200
          ? resolve(JSON.parse(text))
          : reject(new Error(`GET ${path}: HTTP ${response.statusCode}: ${text}`)),
      );
    });
    call.on("error", reject);
    call.end();
  });
}

/** Processor time so far of each process below one, in ms: the database of a Director. */
function timesBelow(root) {
  const parents = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => [Number(name), parentOf(name)]);
  const below = (parent) =>
    parents.filter((one) => one[1] === parent).flatMap(([pid]) => [pid, ...below(pid)]);
  return below(root).map((pid) => [pid, timeOf(pid)]);
}

/** What processes have used since, apart from those that have begun or ended. */
function usedSince(before, after) {
  const known = new Map(before);
  return after.reduce((sum, [pid, time]) => sum + (known.has(pid) ? time - known.get(pid) : 0), 0);
}

/** The Director works on its own, too: it looks at its instances. Most requests of twenty meet none of that. */
const quartile = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 4)] ?? 0;

function parentOf(pid) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return Number(text.slice(text.lastIndexOf(")") + 2).split(" ")[1]);
  } catch {
    return undefined;
  }
}

function timeOf(pid) {
  try {
    return cpuTimeOf(pid);
  } catch {
    // It has just ended.
    return 0;
  }
}

/** Of each question `{ own, database }` in ms; and `node`, of an empty program, measured by turns with them. */
export const apiTimes = ({ deployments, events, rounds }) =>
  inScratch(async (dir) => {
    const state = join(dir, "state");
    const fresh = await startDirector(state);
    await fresh.stop();
    await part("fill", [state, deployments, events]);
    const { pid, port, stop } = await startDirector(state);
    try {
      const director = { port, password: readFileSync(join(state, "admin-password"), "utf8").trim() };
      const middle = Math.floor(Date.now() / 1000) - Math.floor(events / 2);
      const questions = {
        deployments: "/deployments",
        instance: "/events?instance=web/uuid-7",
        user: "/events?user=user-7",
        object: "/events?object_name=vm-7",
        time: `/events?before_time=${middle}`,
      };
      const seen = { node: [], ...Object.fromEntries(Object.keys(questions).map((name) => [name, []])) };
      for (let round = 0; round < rounds; round++) {
        seen.node.push(cpuTime(["-e", "0"]));
        for (const [name, path] of Object.entries(questions)) {
          const found = await get(director, path);
          if (found.length === 0) throw new Error(`GET ${path} found nothing`);
          for (let at = 0; at < REPEATED; at++) {
            const [own, below] = [cpuTimeOf(pid), timesBelow(pid)];
            await get(director, path);
            seen[name].push({ own: cpuTimeOf(pid) - own, database: usedSince(below, timesBelow(pid)) });
          }
        }
      }
      const { node, ...asked } = seen;
      const quartiles = Object.entries(asked).map(([name, times]) => [
        name,
        {
          own: quartile(times.map(({ own }) => own)),
          database: quartile(times.map(({ database }) => database)),
        },
      ]);
      return { node: median(node), asked: Object.fromEntries(quartiles) };
    } finally {
      await stop();
    }
  });
