import { spawn } from "node:child_process";
import { once } from "node:events";
import { request } from "node:https";
import { createInterface } from "node:readline";
import { systemClock } from "@slipway/kernel/clock";
import { TEST_CERT, TEST_KEY } from "@slipway/testkit/tls-fixture";

/** A server that has nothing else to do. */
const SERVER = `
const { createServer } = require("node:https");
const { cert, key } = JSON.parse(process.env.TLS);
const server = createServer({ cert, key }, (_, response) => response.end("{}"));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

export interface Control {
  /** Asks and returns how long the answer took. */
  ask(): Promise<number>;
  stop(): Promise<void>;
}

/**
 * Starts a server that measures what an answer takes on this machine at this moment. Asked by turns with a Director, it separates
 * delays of the machine from those of the Director.
 */
export async function startControl(): Promise<Control> {
  const child = spawn(process.execPath, ["-e", SERVER], {
    env: { TLS: JSON.stringify({ cert: TEST_CERT, key: TEST_KEY }) },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  const options = {
    host: "127.0.0.1",
    port: Number(line),
    agent: false,
    ca: TEST_CERT,
    servername: "localhost",
  };
  return {
    ask: async () => {
      const since = systemClock.monotonic();
      await new Promise<void>((resolve, reject) => {
        const asked = request(options, (response) => response.resume().on("end", resolve));
        asked.on("error", reject).end();
      });
      return systemClock.monotonic() - since;
    },
    stop: async () => {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}
