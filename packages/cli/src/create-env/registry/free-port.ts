import { createServer } from "node:net";
import type { Random } from "@slipway/kernel/random";

/** Below the ports that systems give to outgoing connections: what is free there stays so. */
const FIRST = 20_000;
const LAST = 32_000;
const TRIES = 50;

/** A port of loopback that nobody listens on. */
export async function freePort(random: Random): Promise<number> {
  for (let tries = 0; tries < TRIES; tries++) {
    const port = FIRST + Math.floor(random.fraction() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
  return 0;
}

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
