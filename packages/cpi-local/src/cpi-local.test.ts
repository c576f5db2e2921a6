import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embed } from "@slipway/cpi-sdk/embed";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { cpiLocal } from "./cpi-local.ts";

const isRoot = process.getuid?.() === 0;
const flags = isRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
const canUnshare = spawnSync("unshare", [...flags, "true"]).status === 0;

/** Stands for the agent: says with what it was started, then waits. */
const AGENT = `
require("node:fs").writeFileSync(process.argv[process.argv.indexOf("-b") + 1] + "/started", String(process.pid));
setInterval(() => {}, 1000);
`;

let dir: string;
let agent: string;
let last = 0;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "slipway-local-"));
  agent = join(dir, "agent.cjs");
  await writeFile(agent, AGENT);
});
afterAll(async () => {
  for (const vm of vms()) await ask("delete_vm", [vm]).catch(() => undefined);
  await rm(dir, { recursive: true, force: true });
});

const vms = (): string[] => (existsSync(join(dir, "vms")) ? readdirSync(join(dir, "vms")) : []);

async function ask(method: string, args: readonly unknown[], requestId?: string) {
  last += 1;
  const cpi = embed(cpiLocal, { config: { local: { dir, agent } } });
  return await cpi.request({
    method,
    arguments: args,
    context: {
      director_uuid: "d",
      request_id: requestId ?? `request-of-this-test-${last}`,
      vm: { stemcell: { api_version: 3 } },
    },
    api_version: 2,
  });
}

async function result<T>(method: string, args: readonly unknown[], requestId?: string): Promise<T> {
  const reply = await ask(method, args, requestId);
  expect(reply.error).toBeNull();
  return reply.result as T;
}

async function newStemcell(): Promise<string> {
  const image = join(dir, "image");
  await writeFile(image, "image");
  return await result("create_stemcell", [image, {}]);
}

const vmArguments = (stemcell: string, ip = "127.30.0.2") => [
  `agent-${last}`,
  stemcell,
  {},
  { private: { type: "manual", ip, netmask: "255.255.255.0", gateway: "127.30.0.1" } },
  [],
  {},
];

const newVm = async (requestId?: string): Promise<string> =>
  (await result<[string]>("create_vm", vmArguments(await newStemcell()), requestId))[0];

describe.skipIf(!canUnshare)("a VM of the local CPI", () => {
  it("is a process that outlives the call, and ends with delete_vm", async () => {
    const vm = await newVm();
    const started = join(dir, "vms", vm, "vcap", "started");
    await expect.poll(() => existsSync(started)).toBe(true);
    const pid = Number(readFileSync(started, "utf8"));
    expect(() => process.kill(pid, 0)).not.toThrow();
    expect(await result("has_vm", [vm])).toBe(true);
    await result("delete_vm", [vm]);
    expect(await result("has_vm", [vm])).toBe(false);
    await expect.poll(() => isAlive(pid)).toBe(false);
  });

  it("is made once, however often the same request comes", async () => {
    const stemcell = await newStemcell();
    const args = vmArguments(stemcell, "127.30.0.3");
    const [first] = await result<[string]>("create_vm", args, "the-same-request");
    const [second] = await result<[string]>("create_vm", args, "the-same-request");
    expect(second).toBe(first);
    const running = execFileSync("pgrep", ["-fc", join(dir, "vms", first, "agent.json")], {
      encoding: "utf8",
    });
    // Its init and its agent.
    expect(Number(running)).toBe(2);
    await result("delete_vm", [first]);
  });

  it("starts again after reboot_vm with another process", async () => {
    const vm = await newVm();
    const pidFile = join(dir, "vms", vm, "pid");
    const before = readFileSync(pidFile, "utf8");
    await result("reboot_vm", [vm]);
    expect(readFileSync(pidFile, "utf8")).not.toBe(before);
    await result("delete_vm", [vm]);
  });

  it("keeps its settings from other users", async () => {
    const vm = await newVm();
    const file = execFileSync("stat", ["-c", "%a", join(dir, "vms", vm, "user-data.json")], {
      encoding: "utf8",
    });
    expect(file.trim()).toBe("600");
    await result("delete_vm", [vm]);
  });

  it("is refused an address that is not of this host", async () => {
    const reply = await ask("create_vm", vmArguments(await newStemcell(), "10.0.0.2"));
    expect(reply.error?.message).toContain("127.0.0.0/8");
  });

  it("holds a disk alone, and gives it back", async () => {
    const one = await newVm();
    const other = await newVm();
    const disk = await result<string>("create_disk", [64, {}, null]);
    expect(await result("attach_disk", [one, disk])).toEqual({ path: join(dir, "disks", disk, "content") });
    expect((await ask("attach_disk", [other, disk])).error?.message).toContain(`is attached to '${one}'`);
    expect((await ask("delete_disk", [disk])).error?.message).toContain("is attached to");
    expect((await ask("detach_disk", [other, disk])).error?.type).toBe("Bosh::Clouds::DiskNotAttached");
    await result("detach_disk", [one, disk]);
    await result("delete_disk", [disk]);
    expect(await result("has_disk", [disk])).toBe(false);
    for (const vm of [one, other]) await result("delete_vm", [vm]);
  });
});

describe("a disk of the local CPI", () => {
  it("keeps its content when it grows, and does not shrink", async () => {
    const disk = await result<string>("create_disk", [64, {}, null]);
    await writeFile(join(dir, "disks", disk, "content", "file"), "data");
    await result("resize_disk", [disk, 128]);
    expect(readFileSync(join(dir, "disks", disk, "content", "file"), "utf8")).toBe("data");
    expect((await ask("resize_disk", [disk, 64])).error?.type).toBe("Bosh::Clouds::NotSupported");
  });

  it("cannot be reached by a cid that leads out of the directory", async () => {
    expect(await result("has_disk", ["../../etc"])).toBe(false);
    expect((await ask("delete_disk", ["../vms"])).error?.type).toBe("Bosh::Clouds::DiskNotFound");
  });
});

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}
