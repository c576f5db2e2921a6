// Starts a nats-server for programs that want one: on a free loopback port, with test certificates and the permissions of
// a real deployment with one agent.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { freePort } from "./free-port.mjs";
import { certificates } from "./start-agent.mjs";

/** The agent that the test certificates are for. */
export const BUS_AGENT = "agent-1";

export const natsInstalled = () => spawnSync("nats-server", ["--version"]).status === 0;

const USERS = {
  "default.director.bosh-internal": { publish: ["agent.*", "hm.director.alert"], subscribe: ["director.>"] },
  "default.hm.bosh-internal": {
    publish: [],
    subscribe: ["hm.agent.heartbeat.*", "hm.agent.alert.*", "hm.agent.shutdown.*", "hm.director.alert"],
  },
  [`${BUS_AGENT}.agent.bosh-internal`]: {
    publish: [
      ...["heartbeat", "alert", "shutdown"].map((topic) => `hm.agent.${topic}.${BUS_AGENT}`),
      `director.*.${BUS_AGENT}.*`,
    ],
    subscribe: [`agent.${BUS_AGENT}`],
  },
};

export async function startNats(dir) {
  mkdirSync(dir, { recursive: true });
  const { CA, NATS_SERVER, DIRECTOR, HEALTH_MONITOR, AGENT } = await certificates();
  const write = (name, text) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const pair = (name, { certificate, privateKey }) => ({
    cert: write(`${name}.pem`, certificate),
    key: write(`${name}.key`, privateKey),
  });
  const ca = write("ca.pem", CA);
  const server = pair("server", NATS_SERVER);
  const port = await freePort();
  const users = Object.entries(USERS).map(([name, permissions]) => ({
    user: `C=USA, O=Cloud Foundry, CN=${name}`,
    permissions,
  }));
  // The configuration language takes JSON.
  const config = {
    listen: `127.0.0.1:${port}`,
    tls: { cert_file: server.cert, key_file: server.key, ca_file: ca, verify_and_map: true, timeout: 5 },
    authorization: { users },
  };
  const child = spawn("nats-server", ["-c", write("nats.conf", JSON.stringify(config))], {
    stdio: ["ignore", "ignore", "pipe"],
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await new Promise((resolve, reject) => {
    let output = "";
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      output += chunk;
      if (output.includes("Server is ready")) resolve();
    });
    child.on("exit", (code) => reject(new Error(`nats-server ended with ${code}:\n${output}`)));
  });
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    ca,
    director: pair("director", DIRECTOR),
    healthMonitor: pair("hm", HEALTH_MONITOR),
    agent: pair("agent", AGENT),
    /** Settings of the agent on this bus. */
    agentSettings: {
      agent_id: BUS_AGENT,
      mbus: `nats://127.0.0.1:${port}`,
      env: {
        bosh: { mbus: { cert: { ca: CA, certificate: AGENT.certificate, private_key: AGENT.privateKey } } },
      },
    },
    stop: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}
