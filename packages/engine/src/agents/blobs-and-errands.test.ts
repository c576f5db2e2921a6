import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { describe, expect, it } from "vitest";
import { AgentRefused } from "./agent.ts";
import { answers, fakeAgents, values } from "./testing/fake-agent.ts";
import { introduced } from "./testing/real-agent.ts";

sampleTests(1 / 3);

const bundle = agentBundle();
const fakes = fakeAgents();

async function collect(content: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}

async function* pieces(count: number, size: number) {
  for (let n = 0; n < count; n++) yield Buffer.alloc(size, n);
}

describe("blobs of a real agent", () => {
  it("go and come as streams, and one that is not there is refused", async () => {
    const { agent, start } = await introduced(bundle());
    await start();
    await agent.putBlob("large", { size: 64 << 16, content: pieces(64, 1 << 16) });
    const back = await agent.getBlob("large", collect);
    expect(back.equals(await collect(pieces(64, 1 << 16)))).toBe(true);
    await agent.putBlob("small", Buffer.from("ahoy"));
    expect((await agent.getBlob("small", collect)).toString()).toBe("ahoy");
    await expect(agent.getBlob("none", collect)).rejects.toThrow(/did not give a blob: status 404/);
    const full = new Error("no room for it");
    await expect(agent.getBlob("large", () => Promise.reject(full))).rejects.toBe(full);
    await agent.ping();
  });

  it("fails with the reader's error and stores nothing if the content cannot be read to its end", async () => {
    const { agent, start } = await introduced(bundle());
    await start();
    async function* broken() {
      yield Buffer.alloc(10);
      throw new Error("the disk of the Director is gone");
    }
    await expect(agent.putBlob("b", { size: 20, content: broken() })).rejects.toThrow(
      "the disk of the Director is gone",
    );
    await expect(agent.getBlob("b", collect)).rejects.toBeInstanceOf(AgentRefused);
  });

  it("hold its logs, as far as the filters fit", async () => {
    const { agent, machine, start } = await introduced(bundle());
    await start();
    await mkdir(join(machine.paths.sysLog, "web"), { recursive: true });
    await writeFile(join(machine.paths.sysLog, "web", "web.log"), "served\n");
    await writeFile(join(machine.paths.sysLog, "web", "secret.txt"), "hidden\n");
    const { blobId } = await agent.fetchLogs("job", ["**/*.log"]);
    const text = gunzipSync(await agent.getBlob(blobId, collect)).toString();
    expect(text).toContain("served");
    expect(text).not.toContain("hidden");
    await expect(agent.fetchLogs("weather", [])).rejects.toThrow(/Invalid log type/);
  });
});

describe("an errand", () => {
  it("has any exit code for a result", async () => {
    const { agent, asked } = await fakes.open(values(() => ({ stdout: "o", stderr: "e", exit_code: 7 })));
    expect(await agent.runErrand("smoke")).toEqual({ stdout: "o", stderr: "e", exitCode: 7 });
    expect(asked[0]).toMatchObject({ method: "run_errand", arguments: ["smoke"] });
    await agent.runErrand(undefined);
    expect(asked[1]).toMatchObject({ method: "run_errand", arguments: [] });
  });

  it("ends the errand when the caller cancels, and returns the errand's result", async () => {
    const cancel = new AbortController();
    let ended = false;
    const { agent, methods } = await fakes.open(({ method }, response) => {
      ended ||= method === "cancel_task";
      if (method === "cancel_task") return answers(response, { value: "canceled" });
      const task = { agent_task_id: "t", state: "running" };
      answers(response, { value: ended ? { stdout: "", stderr: "", exit_code: 143 } : task });
    });
    const running = agent.runErrand("smoke", { signal: cancel.signal });
    await expect.poll(() => methods().length).toBeGreaterThan(2);
    cancel.abort(new Error("cancelled by admin"));
    expect(await running).toMatchObject({ exitCode: 143 });
  });

  it("ends the errand when the caller cancels before its task id is known", async () => {
    const cancel = new AbortController();
    let ended = false;
    const { agent, methods } = await fakes.open(({ method }, response) => {
      ended ||= method === "cancel_task";
      if (method === "cancel_task") return answers(response, { value: "canceled" });
      // The answer that tells the id comes after it.
      if (method === "run_errand") cancel.abort(new Error("cancelled by admin"));
      const task = { agent_task_id: "t", state: "running" };
      answers(response, { value: ended ? { stdout: "", stderr: "", exit_code: 143 } : task });
    });
    expect(await agent.runErrand("smoke", { signal: cancel.signal })).toMatchObject({ exitCode: 143 });
    expect(methods()).toEqual(["run_errand", "cancel_task", "get_task"]);
  });

  it("stops waiting soon for a canceled errand that does not end", async () => {
    const clock = fakeClock({ hurry: true });
    const cancel = new AbortController();
    const { agent } = await fakes.open(({ method }, response) => {
      if (method === "cancel_task") return answers(response, { value: "canceled" });
      if (method === "get_task") cancel.abort(new Error("cancelled by admin"));
      answers(response, { value: { agent_task_id: "t", state: "running" } });
    }, clock);
    await expect(agent.runErrand("smoke", { signal: cancel.signal })).rejects.toThrow("cancelled by admin");
  });
});

describe("ssh", () => {
  it("lets a user in where the agent says, and removes users by name", async () => {
    const told = { command: "setup", status: "success", ip: "10.0.0.2", host_public_key: "ssh-rsa A" };
    const { agent, asked } = await fakes.open(
      values(({ arguments: [command] }) => (command === "setup" ? { ...told, port: 2222 } : {})),
    );
    expect(await agent.sshSetup("bosh_a", "ssh-rsa K")).toEqual({
      ip: "10.0.0.2",
      hostPublicKey: "ssh-rsa A",
      port: 2222,
    });
    await agent.sshCleanup("^bosh_a");
    expect(asked.map((one) => one.arguments)).toEqual([
      ["setup", { user: "bosh_a", public_key: "ssh-rsa K" }],
      ["cleanup", { user_regex: "^bosh_a" }],
    ]);
  });

  it("rejects an ssh reply without an address", async () => {
    const { agent } = await fakes.open(values(() => ({ command: "setup", status: "success" })));
    await expect(agent.sshSetup("bosh_a", "k")).rejects.toThrow("makes no sense");
  });
});
