import { readdir, readFile, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import type { TLSSocket } from "node:tls";
import { connect } from "node:tls";
import { startRegistry } from "@slipway/registry/server";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { AgentCaller } from "@slipway/testkit/agent-caller";
import { AgentMachine, certOf } from "@slipway/testkit/agent-machine";
import { AGENT_SERVER, AGENT_SERVER_NEXT, CA, DIRECTOR } from "@slipway/testkit/certificates";
import { eventually } from "@slipway/testkit/eventually";
import { freePort } from "@slipway/testkit/free-port";
import { post } from "@slipway/testkit/https-client";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";

sampleTests(1 / 4);

const bundle = agentBundle();

describe("a real agent process", () => {
  let machine: AgentMachine;
  beforeEach(async () => {
    machine = await AgentMachine.open({ bundle: bundle() });
    return () => machine.close();
  });

  it("shows another certificate after update_settings, and no message of a polling Director gets lost", async () => {
    const agent = await machine.started();
    expect(await servedName(machine.port)).toBe("agent-1.agent.bosh-internal");
    const task = await machine.caller.task("update_settings", { mbus: { cert: certOf(AGENT_SERVER_NEXT) } });
    // Every question that goes unanswered, or finds no listener, throws.
    await eventually("the end of the task", async () => {
      expect(await machine.caller.ping()).toBe("pong");
      const reply = await machine.caller.ask("get_task", task);
      return "value" in reply && reply.value === "ok" ? true : undefined;
    });
    expect(await servedName(machine.port)).toBe("agent-1.next.bosh-internal");
    expect(agent.over).toBe(false);
    await agent.kill();
    await machine.started();
    expect(await servedName(machine.port)).toBe("agent-1.next.bosh-internal");
  });

  it("starts with settings whose nulls stand for what is missing, as CPIs in Go write them", async () => {
    await machine.offer(
      machine.settings({
        ntp: null,
        blobstore: null,
        networks: {
          private: {
            type: "",
            ip: "127.0.0.1",
            netmask: "255.0.0.0",
            gateway: null,
            dns: null,
            default: null,
            routes: null,
            mac: "",
            preconfigured: true,
          },
        },
        disks: { system: null, ephemeral: null, persistent: null },
        env: { bosh: { mbus: { cert: certOf(AGENT_SERVER), urls: null }, password: null, job_dir: null } },
      }),
    );
    await machine.started();
    expect(await machine.caller.ping()).toBe("pong");
    expect(await machine.caller.value("list_disk")).toEqual([]);
  });

  it("answers the same task over the new certificate after a kill during the change", async () => {
    const agent = await machine.started();
    const task = await machine.caller.task("update_settings", { mbus: { cert: certOf(AGENT_SERVER_NEXT) } });
    await agent.kill();
    await machine.started();
    const reply = await machine.caller.ask("get_task", task);
    // Killed before it began or after it had ended, the task is unknown, as upstream's is.
    if ("value" in reply) expect(reply.value).toBe("ok");
    else expect(reply.exception.message).toContain("could not be found");
    expect(await machine.caller.value("update_settings", { mbus: { cert: certOf(AGENT_SERVER_NEXT) } })).toBe(
      "ok",
    );
    expect(await servedName(machine.port)).toBe("agent-1.next.bosh-internal");
  });

  it("does not end when an update changes nothing that it is reached by", async () => {
    const agent = await machine.started();
    const { cert } = (machine.settings().env as { bosh: { mbus: { cert: object } } }).bosh.mbus;
    expect(await machine.caller.value("update_settings", { mbus: { cert } })).toBe("ok");
    expect(await machine.caller.ping()).toBe("pong");
    expect(agent.over).toBe(false);
  });

  it("moves to another address after update_settings, and answers the same task there", async () => {
    const agent = await machine.started();
    const port = await freePort();
    const urls = [`https://mbus:s3cret@127.0.0.1:${port}`];
    const task = await machine.caller.task("update_settings", { mbus: { cert: certOf(AGENT_SERVER), urls } });
    expect(await agent.end()).toBe(0);
    await machine.started();
    expect(await new AgentCaller(port).ask("get_task", task)).toEqual({ value: "ok" });
    await expect(machine.caller.ping()).rejects.toThrow("ECONNREFUSED");
  });

  it("rejects callers without a certificate of the client CA in its settings", async () => {
    const cert = { ...certOf(AGENT_SERVER), client_ca: CA };
    await machine.offer(machine.settings({ env: { bosh: { mbus: { cert } } } }));
    await machine.started();
    const ping = JSON.stringify({ method: "ping", arguments: [], reply_to: "e2e" });
    await expect(post(machine.port, ping)).rejects.toThrow();
    const { certificate, privateKey } = DIRECTOR;
    const known = await post(machine.port, ping, { cert: certificate, key: privateKey });
    expect(JSON.parse(known.text)).toEqual({ value: "pong" });
    const wrong = { cert: certificate, key: privateKey, auth: "mbus:wrong" };
    expect((await post(machine.port, ping, wrong)).status).toBe(401);
  });

  it("starts from what it has stored when the source of its settings is gone", async () => {
    const first = await machine.started();
    await first.kill();
    await rm(machine.source);
    await machine.started();
    expect(await machine.caller.ping()).toBe("pong");
    const info = (await machine.caller.value("info")) as { settings_origin: string };
    expect(info.settings_origin).toContain(`settings from ${machine.paths.settings}, because`);
  });

  it("recovers torn settings from their source and keeps the torn file aside", async () => {
    const first = await machine.started();
    await first.kill();
    const whole = await readFile(machine.paths.settings, "utf8");
    await truncate(machine.paths.settings, Math.floor(whole.length / 2));
    await machine.started();
    expect(await machine.caller.ping()).toBe("pong");
    expect(await readFile(machine.paths.settings, "utf8")).toBe(whole);
    const aside = (await readdir(machine.paths.boshDir)).filter((name) =>
      name.startsWith("settings.json.torn-"),
    );
    expect(aside).toHaveLength(1);
    expect(await readFile(join(machine.paths.boshDir, aside[0] ?? ""), "utf8")).toBe(
      whole.slice(0, Math.floor(whole.length / 2)),
    );
  });

  it("starts with the first design's sample settings, whose system disk is an object", async () => {
    const disks = { system: { path: "/dev/sda1" }, persistent: {} };
    await machine.offer(machine.settings({ disks }));
    await machine.started();
    const kept = JSON.parse(await readFile(machine.paths.settings, "utf8")) as { disks: object };
    expect(kept.disks).toEqual({ system: "/dev/sda1", persistent: {} });
  });

  it("says in its log why there are no settings yet, once per cause, and starts when they come", async () => {
    await machine.offer({ registry: { endpoint: "http://127.0.0.1:9" }, server: { name: "vm-1" } });
    const agent = machine.start();
    await agent.said("no settings yet: ");
    expect(agent.output()).toContain("127.0.0.1:9");
    await machine.offer(machine.settings());
    await agent.said(" ready: ");
    expect(agent.output().match(/no settings yet/g)).toHaveLength(1);
  });

  it.each([
    ["in the endpoint", (port: number) => ({ endpoint: `http://agent:r3gistry@127.0.0.1:${port}` })],
    [
      "apart, as in the first design's sample",
      (port: number) => ({ endpoint: `http://127.0.0.1:${port}`, user: "agent", password: "r3gistry" }),
    ],
  ])("asks the registry that its user-data lead to, and says so: credentials %s", async (_, registryAt) => {
    const state = await temporaryDirectory();
    onTestFinished(state.remove);
    const registry = await startRegistry({
      dir: state.path,
      port: 0,
      users: [{ username: "agent", password: "r3gistry" }],
    });
    onTestFinished(() => registry.close());
    const put = await fetch(`http://127.0.0.1:${registry.port}/instances/vm-1/settings`, {
      method: "PUT",
      body: JSON.stringify(machine.settings()),
      headers: { Authorization: `Basic ${Buffer.from("agent:r3gistry").toString("base64")}` },
    });
    expect(put.ok).toBe(true);
    await machine.offer({ registry: registryAt(registry.port), server: { name: "vm-1" } });
    const agent = await machine.started();
    const info = (await machine.caller.value("info")) as { settings_origin: string };
    expect(info.settings_origin).toContain(`settings from the registry http://127.0.0.1:${registry.port}`);
    expect(info.settings_origin).toContain('under "vm-1"');
    expect(agent.output()).not.toContain("r3gistry");
  });
});

/** Returns the common name of the certificate that the agent shows to clients. */
async function servedName(port: number): Promise<string> {
  return await eventually("a certificate", async () => {
    const socket: TLSSocket = connect({ host: "127.0.0.1", port, ca: CA });
    try {
      await new Promise<void>((resolve, reject) => {
        socket.once("secureConnect", resolve);
        socket.once("error", reject);
      });
      return String(socket.getPeerCertificate().subject.CN);
    } finally {
      socket.destroy();
    }
  });
}
