// npm run conformance:agent: starts our agent in sandboxes of its own, one over HTTPS and one over NATS, and checks both
// from outside.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAgent } from "./start-agent.mjs";
import { BUS_AGENT, natsInstalled, startNats } from "./start-nats.mjs";

const dir = mkdtempSync(join(tmpdir(), "slipway-conformance-"));
const started = [];
let code = 1;
try {
  const agent = await startAgent(dir);
  started.push(agent);
  const disks = agent.sandboxed ? ["disk-conformance-old", "disk-conformance-new"] : [];
  if (!agent.sandboxed) console.log("no user namespaces here: the disk checks are not run\n");
  const diskFlags = disks.flatMap((cid) => {
    mkdirSync(join(dir, cid));
    return ["--disk", `${cid}=${JSON.stringify({ path: join(dir, cid) })}`];
  });
  writeFileSync(join(dir, "ca.pem"), agent.ca);
  const nats = natsInstalled() ? await startNats(join(dir, "nats")) : undefined;
  if (nats !== undefined) started.push(nats);
  const args = [
    ...["--ca", join(dir, "ca.pem"), "--mbus", agent.mbus, "--base-dir", agent.baseDir, ...diskFlags],
    // A sandbox keeps these below its own base directory, so nothing of this machine is changed.
    ...["--machine", "--certificates", join(agent.baseDir, "bosh", "etc", "ca-certificates")],
    ...busFlags(nats),
    ...process.argv.slice(2),
  ];
  code = await check(args, agent.password, async () => {
    if (nats !== undefined) started.push(await startAgent(join(dir, "on-nats"), nats.agentSettings));
  });
  const agents = started.filter((one) => one.output !== undefined);
  if (code !== 0) console.log(agents.map((one) => `an agent said:\n${one.output()}`).join("\n"));
} finally {
  for (const one of started.reverse()) await one.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(code);

function busFlags(nats) {
  if (nats === undefined) return ["--no-nats", "nats-server is not installed here"];
  const { director, healthMonitor } = nats;
  return [
    ...["--nats", nats.url, "--agent-id", BUS_AGENT],
    ...["--nats-cert", director.cert, "--nats-key", director.key],
    ...["--hm-cert", healthMonitor.cert, "--hm-key", healthMonitor.key],
  ];
}

/** Runs the program. The agent on the bus is started when it listens, so that it hears the very first heartbeat. */
function check(args, password, whenListening) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, ["packages/certify/dist/agent-conformance.cjs", ...args], {
      stdio: ["ignore", "inherit", "pipe"],
      env: { ...process.env, AGENT_MBUS_PASSWORD: password },
    });
    let said = "";
    let starting = Promise.resolve();
    let listening = false;
    child.stderr.setEncoding("utf8").on("data", (chunk) => {
      said += chunk;
      if (listening || !said.includes("waiting for agent")) return;
      listening = true;
      starting = whenListening();
      starting.catch(() => child.kill("SIGKILL"));
    });
    child.on("error", reject);
    child.on("exit", (status) => {
      const errors = said.replace(/^waiting for agent .*\n/m, "");
      if (errors !== "") process.stderr.write(errors);
      starting.then(() => resolve(status ?? 1), reject);
    });
  });
}
