import { createServer, type Socket } from "node:net";
import { createInterface } from "node:readline";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { WorldCpis } from "../world/separate-clouds.ts";
import { askSimAgent } from "../world/sim-agent.ts";
import type { SimWorld } from "../world/world.ts";
import type { FromWorld, ToWorld } from "./messages.ts";

/** Turns of the event loop within which what has arrived at a socket is read. */
const READING_TURNS = 3;

export interface WorldServer {
  /** Waits until all is done that was asked for, also what was sent and not yet read. */
  quiet(): Promise<void>;
  close(): Promise<void>;
}

/** The world for a Director in another process: it outlives every crash of that one. */
export async function serveWorld(world: SimWorld, cpi: WorldCpis, path: string): Promise<WorldServer> {
  const sockets = new Set<Socket>();
  const working = new Set<Promise<void>>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
    const lines = createInterface({ input: socket });
    // A Director that is killed leaves its socket in the middle of things; the reader passes that on as its own error.
    lines.on("error", () => undefined);
    lines.on("line", (line) => {
      const work = answer(JSON.parse(line) as ToWorld, world, cpi).then((reply) => {
        socket.write(`${JSON.stringify(reply)}\n`);
      });
      working.add(work);
      void work.finally(() => working.delete(work));
    });
  });
  const bytesRead = () => [...sockets].reduce((sum, socket) => sum + socket.bytesRead, 0);
  await new Promise<void>((resolve, reject) => {
    server.on("error", reject);
    server.listen(path, resolve);
  });
  return {
    quiet: async () => {
      for (let before = -1; before !== bytesRead(); ) {
        before = bytesRead();
        while (working.size > 0) await Promise.all(working);
        for (let turn = 0; turn < READING_TURNS; turn++) await nextTurn();
      }
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

async function answer(message: ToWorld, world: SimWorld, cpi: WorldCpis): Promise<FromWorld> {
  const { id } = message;
  if ("cpi" in message) return { id, response: await cpi(message.cpi, message.of) };
  return { id, answer: askSimAgent(world, message.agent, message.method, message.args) };
}
