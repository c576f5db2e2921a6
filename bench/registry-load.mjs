// PUT+GET pairs against a registry, and against a bare server that writes the same bytes with fsync.
import { mkdirSync, writeFileSync } from "node:fs";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { scratchDir, startNode } from "./measure.mjs";

const BODY = JSON.stringify({
  agent_id: "8a1c0d8e",
  disks: { system: "/dev/sda", persistent: {} },
  pad: "x".repeat(1500),
});
const AUTH = `Basic ${Buffer.from("bench:bench-password").toString("base64")}`;

const BARE = `
const http = require("http"), fs = require("fs/promises"), path = require("path");
const dir = process.argv[1];
http.createServer(async (req, res) => {
  const file = path.join(dir, encodeURIComponent(req.url));
  if (req.method === "PUT") {
    const chunks = [];
    for await (const chunk of req) chunks.push(chunk);
    const handle = await fs.open(file, "w");
    await handle.writeFile(Buffer.concat(chunks));
    await handle.sync();
    await handle.close();
    res.end('{"status":"ok"}');
  } else res.end(JSON.stringify({ status: "ok", settings: await fs.readFile(file, "utf8") }));
}).listen(0, "127.0.0.1", function () { console.log("listening on http://127.0.0.1:" + this.address().port); });
`;

function startServer(args) {
  return new Promise((resolve, reject) => {
    const child = startNode(args, { stdio: ["ignore", "pipe", "inherit"] });
    child.on("exit", (code) => reject(new Error(`server ended with ${code}`)));
    child.stdout.setEncoding("utf8").on("data", (text) => {
      const port = /http:\/\/127\.0\.0\.1:(\d+)/.exec(text)?.[1];
      if (port !== undefined) resolve({ port: Number(port), stop: () => child.kill("SIGKILL") });
    });
  });
}

export async function startBoth() {
  const bareDir = scratchDir("bare");
  const dir = scratchDir("registry");
  mkdirSync(bareDir);
  const config = join(scratchDir("."), "registry.json");
  writeFileSync(
    config,
    JSON.stringify({ dir, http: { host: "127.0.0.1", port: 0, user: "bench", password: "bench-password" } }),
    { mode: 0o600 },
  );
  return {
    bare: await startServer(["-e", BARE, bareDir]),
    ours: await startServer(["packages/registry/dist/slipway-registry.cjs", "--config", config]),
  };
}

/** Pairs per second with so many clients at once. */
export async function pairsPerSecond(port, clients, pairs) {
  const agent = new Agent({ keepAlive: true, maxSockets: clients });
  let next = 0;
  const client = async (number) => {
    while (next++ < pairs) {
      const path = `/instances/vm-${number}/settings`;
      await send(agent, port, "PUT", path, BODY);
      const reply = JSON.parse(await send(agent, port, "GET", path));
      if (reply.settings !== BODY) throw new Error("the registry returned something else than was put");
    }
  };
  const start = process.hrtime.bigint();
  await Promise.all(Array.from({ length: clients }, (_, number) => client(number)));
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  agent.destroy();
  return pairs / seconds;
}

function send(agent, port, method, path, body) {
  return new Promise((resolve, reject) => {
    const call = request(
      { agent, host: "127.0.0.1", port, method, path, headers: { authorization: AUTH } },
      (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => {
          text += chunk;
        });
        response.on("end", () =>
          response.statusCode === 200 ? resolve(text) : reject(new Error(`HTTP ${response.statusCode}`)),
        );
      },
    );
    call.on("error", reject);
    call.end(body);
  });
}
