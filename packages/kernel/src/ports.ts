import { createServer } from "node:net";
import { systemCode } from "./errors.ts";
import type { Random } from "./random.ts";

/** Below the ports that systems give to outgoing connections: what is free there stays so until somebody asks for it. */
const FIRST = 10_240;
const LAST = 32_000;

/** A port of loopback that nobody listens on. Chosen by chance, so that two who ask at the same time differ. */
export async function freePort(random: Random): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(random.fraction() * (LAST - FIRST));
    if (!(await isTaken("127.0.0.1", port))) return port;
  }
}

/** Tells whether a process listens there. Other reasons why listening fails show when a caller tries. */
export function isTaken(host: string, port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve(systemCode(error) === "EADDRINUSE"));
    server.listen(port, host, () => server.close(() => resolve(false)));
  });
}
