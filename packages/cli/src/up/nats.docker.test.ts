import { engineTrouble, HOST } from "@slipway/testkit/docker-cloud";
import { freePort } from "@slipway/testkit/free-port";
import { natsServerAvailable } from "@slipway/testkit/nats-server";
import { needs } from "@slipway/testkit/needs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { CloudHome } from "./testing/machine.ts";
import { OnEngine } from "./testing/on-engine.ts";

const trouble = await engineTrouble();
const docker = needs("docker", trouble === undefined, trouble);
const server = needs("nats-server", natsServerAvailable(), "the program nats-server is not installed");

describe.runIf(docker && server)("containers whose agents are on NATS", () => {
  let machine: CloudHome;
  let engine: OnEngine;
  let range: string;
  beforeAll(async () => {
    machine = await CloudHome.open();
    engine = await OnEngine.open(machine.home);
    const port = await freePort();
    range = `10.217.${port & 0xff}.0/24`;
    await ok("up", "--detach", "--nats", "--cpi", "docker", "--docker-host", HOST, "--port", String(port));
  });
  afterAll(async () => {
    await machine?.run("down");
    await engine?.clear();
    await machine?.close();
  });

  const ok = async (...args: readonly string[]) => {
    const { code, said } = await machine.run(...args);
    expect({ code, said }).toEqual({ code: 0, said });
    return said;
  };
  const vms = async () =>
    JSON.parse(await ok("curl", "/deployments/demo/vms")) as readonly {
      cid: string;
      slipway: { agent_url: string };
    }[];

  it("the demo deploys, compiles, runs an errand, and replaces a container that keeps its disk", async () => {
    expect(await ok("demo", "--range", range)).toContain(
      "The count goes on: a new container, the same disk.",
    );
    const made = await vms();
    expect(made).toHaveLength(2);
    // The end of the engine's bridge on this machine, which containers of all its networks reach.
    for (const { slipway } of made) expect(slipway.agent_url).toMatch(/^nats:\/\/(?!127\.)/);
  });

  it("logs and DNS records come by the blobstore that they reach, too", async () => {
    await ok("-d", "demo", "logs", "counter", "--dir", machine.home);
  });

  it("agents find the server again after the Director and it were stopped", async () => {
    const before = await vms();
    await ok("down");
    await ok("up", "--detach");
    const states = async () => {
      const rows = JSON.parse(await ok("-d", "demo", "instances", "--json")) as {
        Tables: { Rows: { process_state: string }[] }[];
      };
      return rows.Tables[0]?.Rows.map(({ process_state }) => process_state);
    };
    await expect.poll(states, { timeout: 120_000 }).toEqual(["running", "running"]);
    expect(await vms()).toEqual(before);
    await ok("-n", "-d", "demo", "delete-deployment");
  });
});
