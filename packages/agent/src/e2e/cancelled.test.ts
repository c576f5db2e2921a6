import { readdir, writeFile } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { agentBundle } from "@slipway/testkit/agent-bundle";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { archiveOf, sha1 } from "../jobs/testing/lab.ts";
import { SupervisedMachine } from "./testing/supervised-machine.ts";

sampleTests(1 / 4);

const bundle = agentBundle();
const within = { timeout: 120_000, interval: 50 };

/** Serves one blob, but only once it may. */
async function slowServer(content: Uint8Array) {
  const waiting: ServerResponse[] = [];
  let open = false;
  const server = createServer((_, response) => {
    if (open) response.end(content);
    else waiting.push(response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/package`,
    asked: () => waiting.length,
    open: () => {
      open = true;
    },
  };
}

describe("a message that takes long and is cancelled", { timeout: 600_000 }, () => {
  let vm: SupervisedMachine;
  beforeEach(async () => {
    vm = await SupervisedMachine.open(bundle());
    return () => vm.close();
  });
  const jobState = async () => (await vm.state()).job_state;
  const cancelled = async (task: string) => {
    const { caller } = vm.machine;
    expect(await caller.value("cancel_task", task)).toBe("canceled");
    await expect(caller.value("get_task", task)).rejects.toThrow(/the task was cancelled/);
  };

  it.each([
    ["prepare", "prepared"],
    ["apply", "applied"],
  ])(
    "%s: what was fetched is gone, the jobs are as they were, and the next one works",
    async (method, done) => {
      const { caller, paths } = vm.machine;
      await vm.apply({ web: vm.check("web") });
      await caller.value("start");
      await expect.poll(jobState, within).toBe("running");
      const content = await archiveOf({ "bin/tool": "a tool" });
      const server = await slowServer(content);
      const spec = {
        ...{ deployment: "shop", name: "api", index: 0, id: "0", az: "z1", configuration_hash: "next" },
        networks: { private: { ip: "127.0.0.1" } },
        job: { name: "api", templates: [] },
        packages: {
          tool: {
            name: "tool",
            version: "1",
            sha1: sha1(content),
            blobstore_id: "b",
            signed_url: server.url,
          },
        },
      };
      const task = await caller.task(method, spec);
      await expect.poll(server.asked, within).toBe(1);
      await cancelled(task);
      expect(await readdir(paths.dataPackages)).toEqual([]);
      expect(await jobState()).toBe("running");
      expect(await vm.running()).toEqual(["web"]);
      server.open();
      expect(await caller.value(method, spec)).toBe(done);
      expect(await readdir(paths.dataPackages)).toEqual(["tool"]);
      await caller.value("stop");
    },
  );

  it("stop: it is no longer waited for, and the next stop waits again", async () => {
    const { caller } = vm.machine;
    await vm.apply({ web: vm.check("web", { stop: "gated-stop", seconds: 300 }) });
    await caller.value("start");
    await expect.poll(jobState, within).toBe("running");
    const task = await caller.task("stop");
    await expect.poll(() => vm.calls(), within).toContain("gated-stop web");
    await cancelled(task);
    expect(await vm.running()).toEqual(["web"]);
    const again = await caller.task("stop");
    await writeFile(join(vm.machine.dir, "go"), "");
    expect(await caller.value("get_task", again)).toBe("stopped");
    expect(await vm.running()).toEqual([]);
    expect((await vm.calls()).filter((call) => call.startsWith("gated-stop"))).toHaveLength(1);
  });
});
