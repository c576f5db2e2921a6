// The engine in the machine as this host sees it: through the CPI's executable, through `docker`, and its VMs' agents
// through ports of the machine.
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

const CPI = "packages/cpi-docker/dist/cpi.cjs";
const CALL_MS = 300_000;
const PASSWORD = "only-for-this-run";
const RANGE = "10.244.0";

export class Cloud {
  #dir;
  #ports;
  #certificates;
  #calls = 0;

  constructor({ dir, ports, certificates }) {
    this.#dir = dir;
    this.#ports = ports;
    this.#certificates = certificates;
    const { ca, cpi } = certificates;
    const docker = { dir: join(dir, "cpi"), host: `tcp://127.0.0.1:${ports.engine}`, tls: { ca, ...cpi } };
    const agent = { mbus: `https://mbus:${PASSWORD}@0.0.0.0:6868` };
    writeFileSync(this.#config, JSON.stringify({ docker, agent }), { mode: 0o600 });
  }

  get #config() {
    return join(this.#dir, "cpi.json");
  }

  async cpi(method, ...args) {
    return await this.as(this.nextRequest(), method, ...args);
  }

  nextRequest() {
    return `request-${++this.#calls}`;
  }

  /** A call that may be repeated under its id. */
  async as(id, method, ...args) {
    const context = { director_uuid: "docker-host", request_id: id, vm: { stemcell: { api_version: 3 } } };
    const input = JSON.stringify({ method, arguments: args, context, api_version: 2 });
    const { stdout } = await program(process.execPath, [CPI, "--configFile", this.#config], { input });
    const { result, error, log } = JSON.parse(stdout);
    if (error) throw new Error(`${method}: ${error.message}\n${log}`);
    if (log) console.log(`${method} says: ${log.trim()}`);
    return result;
  }

  /** Its arguments for the n-th VM, whose agent is behind the n-th port. */
  vmArguments(n, stemcell, properties = { ports: [`${6868 + n}:6868`] }) {
    const ip = `${RANGE}.${10 + n}`;
    const network = { type: "manual", ip, netmask: "255.255.255.0", gateway: `${RANGE}.1` };
    const cert = { ca: this.#certificates.ca, ...this.#certificates.agent };
    return [`agent-${n}`, stemcell, properties, { private: network }, [], { bosh: { mbus: { cert } } }];
  }

  dockerArguments(...args) {
    const tls = Object.entries({ tlscacert: "ca.pem", tlscert: "cpi.pem", tlskey: "cpi.key" });
    const secure = tls.map(([option, name]) => `--${option}=${join(this.#dir, name)}`);
    return ["-H", `tcp://127.0.0.1:${this.#ports.engine}`, "--tlsverify", ...secure, ...args];
  }

  async docker(...args) {
    const { stdout } = await program("docker", this.dockerArguments(...args), {});
    return stdout.trim();
  }

  /** What the engine says to somebody who has none. */
  withoutCertificate() {
    const { ca } = this.#certificates;
    const options = { host: "127.0.0.1", port: this.#ports.engine, ca, path: "/version", agent: false };
    return new Promise((done) => {
      const asked = request(options, (reply) => {
        reply.resume();
        done(`it answers ${reply.statusCode}`);
      });
      asked.on("error", (error) => done(error.message));
      asked.end();
    });
  }

  async in(container, script) {
    return await this.docker("exec", container, "sh", "-c", script);
  }

  /** Run by Node in a VM, says what its agent says. */
  get pingScript() {
    const options = `{port: 6868, path: "/agent", method: "POST", auth: "mbus:${PASSWORD}", rejectUnauthorized: false}`;
    const message = `JSON.stringify({protocol: 3, method: "ping", arguments: [], reply_to: "docker-host"})`;
    return `require("https").request(${options}, (reply) => reply.pipe(process.stdout)).end(${message})`;
  }

  /** What the agent of the n-th VM says, when it has finished. */
  async agent(n, method, ...args) {
    let reply = await this.#message(n, method, args);
    for (const until = performance.now() + CALL_MS; reply.value?.state === "running"; await sleep(200)) {
      if (performance.now() > until) throw new Error(`${method} is not done after ${CALL_MS / 1000} s`);
      reply = await this.#message(n, "get_task", [reply.value.agent_task_id]);
    }
    if (reply.exception) throw new Error(`${method}: ${reply.exception.message}`);
    return reply.value;
  }

  #message(n, method, args) {
    const { ca } = this.#certificates;
    const options = { host: "127.0.0.1", port: this.#ports.agents[n], ca, agent: false, timeout: 30_000 };
    return new Promise((done, fail) => {
      const asked = request(
        { ...options, method: "POST", path: "/agent", auth: `mbus:${PASSWORD}` },
        (reply) => {
          let text = "";
          reply.setEncoding("utf8").on("error", fail);
          reply.on("data", (piece) => (text += piece));
          reply.on("end", () => {
            try {
              done(JSON.parse(text));
            } catch {
              fail(new Error(`the agent answers ${reply.statusCode}: ${text.slice(0, 200)}`));
            }
          });
        },
      );
      asked.on("timeout", () => asked.destroy(new Error("the agent does not answer")));
      asked.on("error", fail);
      asked.end(JSON.stringify({ protocol: 3, method, arguments: args, reply_to: "docker-host" }));
    });
  }
}

/** Runs a program to its end; one that fails or takes too long is an error. */
export function program(name, args, { input = "", ms = CALL_MS, env = process.env } = {}) {
  return new Promise((done, fail) => {
    const child = spawn(name, args, {
      stdio: ["pipe", "pipe", "pipe"],
      timeout: ms,
      killSignal: "SIGKILL",
      env,
    });
    const said = { stdout: "", stderr: "" };
    for (const stream of ["stdout", "stderr"])
      child[stream].setEncoding("utf8").on("data", (text) => {
        said[stream] += text;
      });
    child.on("error", (error) => fail(new Error(`${name} cannot be run: ${error.message}`)));
    child.on("close", (code, signal) => {
      if (code === 0) done(said);
      else
        fail(
          new Error(`${name} ${args[0]} ended with ${code ?? signal}: ${said.stderr}${said.stdout}`.trim()),
        );
    });
    child.stdin.on("error", () => undefined);
    child.stdin.end(input);
  });
}
