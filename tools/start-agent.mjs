// Starts the bundled agent for programs that want one: with test certificates, on a free loopback port, in mounts of its
// own where the machine lets us.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { freePort } from "./free-port.mjs";

const CERTIFICATES = "packages/testkit/src/certificates.ts";

let read;

/** The test certificates are TypeScript; this is the shortest way to read them. */
export function certificates() {
  read ??= readCertificates();
  return read;
}

async function readCertificates() {
  const { outputFiles } = await build({
    entryPoints: [CERTIFICATES],
    bundle: true,
    write: false,
    format: "esm",
    conditions: ["source"],
  });
  return await import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

/** Bind mounts need mounts of one's own: as root a mount namespace, otherwise a user namespace as well. */
function sandbox() {
  const flags =
    process.getuid() === 0
      ? ["--mount", "--propagation", "private"]
      : ["--user", "--map-root-user", "--mount"];
  return spawnSync("unshare", [...flags, "true"]).status === 0 ? ["unshare", ...flags] : [];
}

/** Somebody else's agent, such as upstream's Go agent, to be checked instead of ours. */
const OTHER = process.env.SLIPWAY_OTHER_AGENT ?? "";

const OURS = "packages/agent/dist/slipway-agent.cjs";

/** Executable of the agent that is checked. */
export const agentFile = () => (OTHER === "" ? OURS : OTHER);

/** How an agent is started on the settings in a directory. Upstream's own tests run theirs on the platform `dummy`. */
export function agentCommand(dir, prefix) {
  const files = ["-C", join(dir, "agent.json"), "-b", join(dir, "vcap")];
  const agent =
    OTHER === ""
      ? [process.execPath, OURS, ...files, "-P", "namespace"]
      : [OTHER, ...files, "-P", "dummy", "-M", "dummy"];
  return [...prefix, ...agent];
}

/** Over HTTPS, unless the settings say otherwise. */
export async function startAgent(dir, settings = {}) {
  mkdirSync(dir, { recursive: true });
  const { CA, AGENT_SERVER } = await certificates();
  const port = await freePort();
  const password = "only-for-tests";
  const baseDir = join(dir, "vcap");
  mkdirSync(baseDir, { recursive: true });
  const cert = { ca: CA, certificate: AGENT_SERVER.certificate, private_key: AGENT_SERVER.privateKey };
  const document = {
    agent_id: "agent-under-test",
    vm: { name: "vm-under-test" },
    mbus: `https://agent:${password}@127.0.0.1:${port}`,
    networks: { private: { type: "manual", ip: "127.0.0.1", netmask: "255.0.0.0", preconfigured: true } },
    disks: { system: "", persistent: {} },
    env: { bosh: { mbus: { cert } } },
    blobstore: { provider: "local", options: { blobstore_path: join(baseDir, "blobs") } },
    ...settings,
  };
  writeFileSync(join(dir, "settings.json"), JSON.stringify(document), { mode: 0o600 });
  const config = {
    Infrastructure: { Settings: { Sources: [{ Type: "File", SettingsPath: join(dir, "settings.json") }] } },
    Platform: { Linux: { SkipDiskSetup: true } },
  };
  writeFileSync(join(dir, "agent.json"), JSON.stringify(config));
  const prefix = sandbox();
  const command = agentCommand(dir, prefix);
  const begun = Number(process.hrtime.bigint()) / 1e6;
  const child = spawn(command[0], command.slice(1), { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  const ended = new Promise((resolve) => child.on("exit", resolve));
  await new Promise((resolve, reject) => {
    const take = (chunk) => {
      output += chunk;
      if (output.includes(OTHER === "" ? "ready:" : "Attempting to send Heartbeat")) resolve();
    };
    child.stdout.setEncoding("utf8").on("data", take);
    child.stderr.setEncoding("utf8").on("data", take);
    child.on("exit", (code) => reject(new Error(`the agent ended with ${code}:\n${output}`)));
  });
  return {
    pid: child.pid,
    mbus: `https://agent@127.0.0.1:${port}`,
    port,
    password,
    ca: CA,
    baseDir,
    sandboxed: prefix.length > 0,
    /** Milliseconds of `process.hrtime` when the agent was started. */
    begun,
    child,
    output: () => output,
    stop: async () => {
      child.kill("SIGTERM");
      await ended;
    },
  };
}
