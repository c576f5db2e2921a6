// npm run conformance:agent: starts our agent in a sandbox of its own and checks it from outside.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startAgent } from "./start-agent.mjs";

const dir = mkdtempSync(join(tmpdir(), "slipway-conformance-"));
const agent = await startAgent(dir);
let code = 1;
try {
  const disks = agent.sandboxed ? ["disk-conformance-old", "disk-conformance-new"] : [];
  if (!agent.sandboxed) console.log("no user namespaces here: the disk checks are not run\n");
  const flags = disks.flatMap((cid) => {
    mkdirSync(join(dir, cid));
    return ["--disk", `${cid}=${JSON.stringify({ path: join(dir, cid) })}`];
  });
  writeFileSync(join(dir, "ca.pem"), agent.ca);
  const args = ["--mbus", agent.mbus, "--ca", join(dir, "ca.pem"), "--base-dir", agent.baseDir, ...flags];
  code = await run(["packages/certify/dist/agent-conformance.cjs", ...args], {
    AGENT_MBUS_PASSWORD: agent.password,
  });
  if (code !== 0) console.log(`the agent said:\n${agent.output()}`);
} finally {
  await agent.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(code);

function run(args, env) {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, args, { stdio: "inherit", env: { ...process.env, ...env } });
    child.on("exit", (status) => resolve(status ?? 1));
  });
}
