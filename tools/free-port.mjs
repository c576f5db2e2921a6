// A port of loopback for a server that is started later: below the ports that systems give to outgoing connections, and
// chosen by chance, so that programs at the same time differ.
import { createServer } from "node:net";

const FIRST = 10_240;
const LAST = 32_000;

export async function freePort() {
  for (;;) {
    const port = FIRST + Math.floor(Math.random() * (LAST - FIRST));
    if (await isFree(port)) return port;
  }
}

function isFree(port) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen(port, "127.0.0.1", () => server.close(() => resolve(true)));
  });
}
