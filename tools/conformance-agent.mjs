// npm run conformance:agent: starts our agent in sandboxes of its own, one over HTTPS and one over NATS, and checks both
// from outside. It is also the control of that check: asked by `--control SOCKET WORDS`, it restarts agents and server.
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { imageDisk, imageDiskLacks } from "./conformance-disk.mjs";
import { stories } from "./conformance-stories.mjs";
import { agentCommand, agentFile, certificates, startAgent } from "./start-agent.mjs";
import { BUS_AGENT, natsInstalled, startNats } from "./start-nats.mjs";

const DIFFERS = "AGENT-START-005=docs/internals/agent.md#answers-of-a-starting-agent";

if (process.argv[2] === "--control") process.exit(await passOn(process.argv[3], process.argv.slice(4)));

const dir = mkdtempSync(join(tmpdir(), "slipway-conformance-"));
const started = [];
const agents = {};
let code = 1;
try {
  const agent = await supervised(dir);
  agents.https = agent;
  const { first } = agent;
  const disks = first.sandboxed ? ["disk-conformance-old", "disk-conformance-new"] : [];
  if (!first.sandboxed) console.log("no user namespaces here: the disk checks are not run\n");
  const diskFlags = disks.flatMap((cid) => {
    mkdirSync(join(dir, cid));
    return ["--disk", `${cid}=${JSON.stringify({ path: join(dir, cid) })}`];
  });
  writeFileSync(join(dir, "ca.pem"), first.ca);
  const nats = natsInstalled() ? await replaceable(join(dir, "nats")) : undefined;
  const noImage = imageDiskLacks();
  const image = noImage === "" ? imageDisk(dir) : undefined;
  if (image !== undefined) started.push(image);
  const told = stories();
  if (told.why !== "") console.log(`no stories: ${told.why}\n`);
  const socket = join(dir, "control");
  started.push(await listen(socket, nats, { ...image?.deeds, ...told.deeds }));
  const control = [process.execPath, fileURLToPath(import.meta.url), "--control", socket];
  const args = [
    ...["--ca", join(dir, "ca.pem"), "--mbus", first.mbus, "--base-dir", first.baseDir, ...diskFlags],
    // A sandbox keeps these below its own base directory, so nothing of this machine is changed.
    ...["--machine", "--certificates", join(first.baseDir, "bosh", "etc", "ca-certificates")],
    ...["--control", JSON.stringify(control), "--differs", DIFFERS, ...(await nextCertificate())],
    ...(image === undefined
      ? ["--no-image-disk", noImage]
      : ["--image-disk", `disk-conformance-image=${JSON.stringify(image.hint)}`]),
    ...busFlags(nats?.server),
    ...(nats === undefined ? [] : ["--nats-base-dir", join(dir, "on-nats", "vcap")]),
    ...["--agent", agentFile()],
    ...process.argv.slice(2),
  ];
  code = await check(args, first.password, async () => {
    if (nats !== undefined) agents.nats = await supervised(join(dir, "on-nats"), nats.server.agentSettings);
  });
  const said = Object.values(agents).map((one) => `an agent said:\n${one.output()}`);
  // Where nobody answers at an address that was given, our own agents have nothing to say to it.
  const elsewhere = process.argv.some((word) => /^--(mbus|nats)(=|$)/.test(word));
  if (code === 1 || (code !== 0 && !elsewhere)) console.log(said.join("\n"));
} finally {
  for (const one of Object.values(agents)) await one.stop();
  for (const one of started.reverse()) await one.stop();
  rmSync(dir, { recursive: true, force: true });
}
process.exit(code);

/** An agent that is started again when it ends, as an init system does it. */
async function supervised(where, settings) {
  const first = await startAgent(where, settings);
  let pid = first.pid;
  let output = "";
  let wanted = true;
  const again = () => {
    const child = spawn(...commandOf(where, first), { stdio: ["ignore", "pipe", "pipe"] });
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk) => {
        output += chunk;
      });
    }
    pid = child.pid;
  };
  const watching = (async () => {
    while (wanted) {
      if (!runs(pid)) again();
      await sleep(20);
    }
  })();
  return {
    first,
    output: () => first.output() + output,
    /** Its mounts were in a namespace that ends with it, as those of a machine do. */
    restart: async () => {
      const before = pid;
      if (runs(before)) process.kill(before, "SIGKILL");
      while (pid === before) await sleep(10);
    },
    stop: async () => {
      wanted = false;
      await watching;
      if (runs(pid)) process.kill(pid, "SIGTERM");
      while (runs(pid)) await sleep(10);
    },
  };
}

/** What startAgent runs, once more, with the files that it has written. */
function commandOf(where, { sandboxed }) {
  const root = process.getuid() === 0;
  const flags = root ? ["--mount", "--propagation", "private"] : ["--user", "--map-root-user", "--mount"];
  const [program, ...args] = agentCommand(where, sandboxed ? ["unshare", ...flags] : []);
  return [program, args];
}

function runs(pid) {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** A NATS server that can be stopped, started on the same port, and replaced by an impostor there. */
async function replaceable(where) {
  const server = await startNats(where);
  const { EVIL_SERVER } = await certificates();
  const config = JSON.parse(readFileSync(join(where, "nats.conf"), "utf8"));
  const write = (name, text) => {
    writeFileSync(join(where, name), text, { mode: 0o600 });
    return join(where, name);
  };
  const evil = {
    cert_file: write("evil.pem", EVIL_SERVER.certificate),
    key_file: write("evil.key", EVIL_SERVER.privateKey),
  };
  const impostor = write("impostor.conf", JSON.stringify({ ...config, tls: { ...config.tls, ...evil } }));
  let stop = server.stop;
  const run = async (file) => {
    const child = spawn("nats-server", ["-c", file], { stdio: ["ignore", "ignore", "pipe"] });
    const ended = new Promise((resolve) => child.on("exit", resolve));
    stop = async () => {
      child.kill("SIGKILL");
      await ended;
    };
    await new Promise((resolve, reject) => {
      let said = "";
      child.stderr.setEncoding("utf8").on("data", (chunk) => {
        said += chunk;
        if (said.includes("Server is ready")) resolve();
      });
      child.on("exit", (status) => reject(new Error(`nats-server ended with ${status}:\n${said}`)));
    });
  };
  const replaced = {
    server,
    bus: {
      stop: () => stop(),
      start: () => run(join(where, "nats.conf")),
      impostor: () => run(impostor),
    },
    stop: () => stop(),
  };
  started.push(replaced);
  return replaced;
}

/** Takes what `--control` passes on. */
async function listen(socket, nats, more) {
  const source = join(dir, "settings.json");
  const deeds = {
    ...more,
    "restart https": () => agents.https.restart(),
    "restart nats": () => agents.nats.restart(),
    "source away": () => renameSync(source, `${source}.away`),
    "source back": () => renameSync(`${source}.away`, source),
    ...(nats !== undefined && {
      "bus stop": nats.bus.stop,
      "bus start": nats.bus.start,
      "bus impostor": nats.bus.impostor,
    }),
  };
  const server = createServer((asked, reply) => {
    const deed = deeds[decodeURIComponent(asked.url.slice(1))];
    const answer = (status, text = "") => {
      reply.statusCode = status;
      reply.end(text);
    };
    if (deed === undefined) return answer(404, "it is not known here");
    Promise.resolve()
      .then(deed)
      .then(
        () => answer(200),
        (error) => answer(500, String(error)),
      );
  });
  await new Promise((resolve) => server.listen(socket, resolve));
  return { stop: () => new Promise((resolve) => server.close(resolve)) };
}

/** The other end: done is 0, not to be done here 3. */
function passOn(socketPath, words) {
  return new Promise((resolve, reject) => {
    const call = request(
      { socketPath, method: "POST", path: `/${encodeURIComponent(words.join(" "))}`, agent: false },
      (reply) => {
        let said = "";
        reply.setEncoding("utf8").on("data", (chunk) => {
          said += chunk;
        });
        reply.on("end", () => {
          if (said !== "") process.stderr.write(`${said}\n`);
          resolve({ 200: 0, 404: 3 }[reply.statusCode] ?? 1);
        });
      },
    );
    call.on("error", reject);
    call.end();
  });
}

async function nextCertificate() {
  const { AGENT_SERVER_NEXT } = await certificates();
  const [cert, key] = [join(dir, "next.pem"), join(dir, "next.key")];
  writeFileSync(cert, AGENT_SERVER_NEXT.certificate);
  writeFileSync(key, AGENT_SERVER_NEXT.privateKey, { mode: 0o600 });
  return ["--next-cert", cert, "--next-key", key];
}

function busFlags(nats) {
  if (nats === undefined) return ["--no-nats", "nats-server is not installed here"];
  const { director, healthMonitor } = nats;
  return [
    ...["--nats", nats.url, "--agent-id", BUS_AGENT],
    ...["--nats-cert", director.cert, "--nats-key", director.key],
    ...["--hm-cert", healthMonitor.cert, "--hm-key", healthMonitor.key, "--heartbeats"],
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
