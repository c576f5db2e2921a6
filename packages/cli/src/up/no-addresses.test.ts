import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { freePort } from "@slipway/testkit/free-port";
import { natsServerAvailable } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { canUseSandboxes } from "@slipway/testkit/sandbox";
import { plays } from "@slipway/testkit/stories";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROGRAMS } from "../bosh-cli/testing/requirements.ts";
import { CloudHome } from "./testing/machine.ts";

const sandboxes = needs("userns", await canUseSandboxes(), "sandboxes are made of namespaces");
const server = needs("nats-server", natsServerAvailable(), "the program nats-server is not installed");

/** The local CPI, but networks come back as they were sent, without the addresses it gave: some CPIs do so. */
const ECHOES = `
const { spawnSync } = require("node:child_process");
const input = require("node:fs").readFileSync(0, "utf8");
const request = JSON.parse(input);
const args = [${JSON.stringify(PROGRAMS.cpi)}, ...process.argv.slice(2)];
const run = spawnSync(process.execPath, args, { input, encoding: "utf8" });
process.stderr.write(run.stderr);
const answer = JSON.parse(run.stdout);
if (request.method === "create_vm" && Array.isArray(answer.result))
  answer.result = [answer.result[0], request.arguments[3]];
process.stdout.write(JSON.stringify(answer));
`;

const CLOUD_CONFIG = `
azs: [{name: z1}]
vm_types: [{name: default}]
networks: [{name: private, type: dynamic, subnets: [{az: z1}]}]
compilation: {workers: 1, az: z1, vm_type: default, network: private, reuse_compilation_vms: true}
`;

const MANIFEST = `
name: bare
releases: []
stemcells: [{alias: default, name: slipway-local, version: latest}]
update: {canaries: 1, max_in_flight: 1, canary_watch_time: 1000-60000, update_watch_time: 1000-60000}
instance_groups:
- {name: web, instances: 1, azs: [z1], jobs: [], vm_type: default, stemcell: default, networks: [{name: private}]}
`;

const played = plays("director", "no addresses");

describe.runIf(sandboxes && server && played)("a CPI that does not say which addresses its VMs have", () => {
  let machine: CloudHome;
  let up: readonly string[];
  beforeAll(async () => {
    machine = await CloudHome.open();
    expect(await machine.run("status")).toMatchObject({ code: 0 });
    const dir = join(machine.home, "..");
    const write = async (name: string, text: string) => {
      await writeFile(join(dir, name), text);
      return join(dir, name);
    };
    const local = { dir: join(dir, "cloud"), agent: PROGRAMS.agent };
    const cpi = {
      exec_path: await write("cpi.cjs", ECHOES),
      config_file: await write("cpi.json", JSON.stringify({ local })),
    };
    const config = await write("director.json", JSON.stringify({ cpi, agent: { wait_timeout_s: 60 } }));
    up = ["up", "--detach", "--port", String(await freePort()), "--config", config];
    await write("cloud.yml", CLOUD_CONFIG);
    await write("bare.yml", MANIFEST);
  });
  afterAll(() => machine?.close());

  const at = (name: string) => join(machine.home, "..", name);
  const ok = async (...args: readonly string[]) => {
    const { code, said } = await machine.run(...args);
    expect({ code, said }).toEqual({ code: 0, said });
    return said;
  };

  it("cannot be used over HTTPS, and the error names the ways out", async () => {
    await ok(...up);
    await ok("update-cloud-config", at("cloud.yml"), "-n");
    await ok("stemcell", "build", "--out", at("stemcell.tgz"));
    await ok("upload-stemcell", at("stemcell.tgz"));
    const { code, said } = await machine.run("-d", "bare", "deploy", at("bare.yml"), "-n");
    expect(code).toBe(1);
    expect(said).toContain("cannot be reached over HTTPS");
    expect(said).toContain("reach agents over NATS");
  });

  it("works over NATS", async () => {
    await ok("down");
    await ok(...up, "--nats");
    await ok("-d", "bare", "deploy", at("bare.yml"), "-n");
    const [vm] = JSON.parse(await ok("curl", "/deployments/bare/vms")) as {
      slipway: { agent_url: string };
    }[];
    expect(vm?.slipway.agent_url).toMatch(/^nats:/);
    expect(await ok("-d", "bare", "instances", "--json")).not.toContain("unresponsive");
    await ok("-d", "bare", "recreate", "-n");
    await ok("-d", "bare", "delete-deployment", "-n");
  });
});
