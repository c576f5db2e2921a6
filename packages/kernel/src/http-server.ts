import type { Server } from "node:http";
import type { Clock } from "./clock.ts";

/** Resolves when the server listens; rejects with the system's error when it cannot. */
export function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}

/** Takes no more requests and lets those under way finish, for `graceMs` at most. */
export function closeServer(server: Server, clock: Clock, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(graceMs, () => server.closeAllConnections());
    server.close(() => {
      cancel();
      resolve();
    });
    server.closeIdleConnections();
  });
}
