import { createServer } from "node:net";
import { systemRandom } from "../random.ts";

/** Below the ports that systems give to outgoing connections: what is free there stays so until somebody asks for it. */
const FIRST = 10_240;
const LAST = 32_000;

/** A port of loopback for a server that is started later. Chosen by chance, so that suites at the same time differ. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = FIRST + Math.floor(systemRandom.fraction() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
