import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { systemExec } from "@slipway/kernel/exec";
import { describe, expect, it } from "vitest";
import { ERRAND_RELEASE } from "./testing/errand-release.ts";
import { uploadReleaseDirectory, writeRelease } from "./testing/release-dir.ts";
import { canPlay } from "./testing/requirements.ts";
import { openWorld } from "./testing/world.ts";

/** The names in an archive, without directories. */
async function names(archive: string): Promise<readonly string[]> {
  const { code, stdout } = await systemExec("tar", ["-tzf", archive]);
  expect(code).toBe(0);
  return stdout
    .split("\n")
    .filter((name) => name !== "" && !name.endsWith("/"))
    .sort();
}

describe.runIf(await canPlay())("logs with the real CLI", () => {
  const world = openWorld();
  const shop = (...command: readonly string[]) => world().bosh.run("-d", "shop", ...command);

  /** Runs `logs` and returns the archive it downloaded. */
  async function fetched(...command: readonly string[]): Promise<{ archive: string; blocks: string }> {
    const to = join(world().dir, `logs-${command.join("-").replaceAll(/[^\w-]/g, "_")}`);
    await mkdir(to);
    const { blocks } = await shop("logs", ...command, "--dir", to);
    const files = await readdir(to);
    expect(files).toHaveLength(1);
    return { archive: join(to, files[0] ?? ""), blocks };
  }

  it("come from the jobs of one instance, all of them or some", async () => {
    await world().seed();
    const release = join(world().dir, "checks");
    await writeRelease(release, ERRAND_RELEASE);
    await uploadReleaseDirectory(world(), release);
    const jobs = [{ name: "talker", release: "checks" }];
    await world().deploy("shop", [{ name: "web", instances: 2, jobs }, { name: "db" }]);
    const [first] = (await world().instances("shop")).filter(({ instance }) => instance?.startsWith("web"));
    const logs = world().cloud("vms", first?.vm_cid ?? "", "vcap", "data", "sys", "log", "web");
    await mkdir(logs, { recursive: true });
    await writeFile(join(logs, "web.log"), "served\n");
    await writeFile(join(logs, "other.txt"), "other\n");
    const { archive, blocks } = await fetched("web/0");
    const talked = ["./talker/talker.err.log", "./talker/talker.log"];
    expect(await names(archive)).toEqual([...talked, "./web/other.txt", "./web/web.log"]);
    expect(blocks).toContain(`Fetching logs for ${first?.instance} (0): Finding and packing log files`);
    expect(await names((await fetched("web/0", "--only", "**/*.log")).archive)).toEqual([
      ...talked,
      "./web/web.log",
    ]);
    expect(await names((await fetched("web/0", "--only", "talker/*.err.log,web/*")).archive)).toEqual([
      "./talker/talker.err.log",
      "./web/other.txt",
      "./web/web.log",
    ]);
  });

  it("come from agents, and from all there is", async () => {
    const [first] = (await world().instances("shop")).filter(({ instance }) => instance?.startsWith("web"));
    await writeFile(world().cloud("vms", first?.vm_cid ?? "", "vcap", "bosh", "log", "current"), "agent\n");
    expect(await names((await fetched("web/0", "--agent")).archive)).toEqual(["./current"]);
    const all = await names((await fetched("web/0", "--all-logs")).archive);
    expect(all).toEqual(expect.arrayContaining(["./current", "./web/web.log"]));
    // Of the machine there may be any.
    const system = await names((await fetched("web/0", "--system")).archive);
    expect(system).not.toContain("./current");
    expect(system).not.toContain("./web/web.log");
  });

  it("of a group, and of a deployment, are an archive of each instance in one", async () => {
    const { archive, blocks } = await fetched("web");
    expect(blocks).toContain("Fetching group of logs: Packing log files together");
    const id = "[0-9a-f-]{36}";
    const time = "\\d{4}(-\\d\\d){5}";
    const group = await names(archive);
    expect(group).toHaveLength(2);
    for (const name of group) expect(name).toMatch(new RegExp(`^./web.${id}.${time}.tgz$`));
    const all = await names((await fetched()).archive);
    expect(all.map((name) => name.slice(0, 5))).toEqual(["./db.", "./web", "./web"]);
  });

  it("leave nothing on the VMs, and are refused for what is not there", async () => {
    for (const { vm_cid: cid } of await world().instances("shop"))
      expect(await readdir(world().cloud("vms", cid ?? "", "vcap", "data", "blobs"))).toEqual([]);
    const refused = (...args: readonly string[]) => world().bosh.refused("-d", "shop", "logs", ...args);
    expect(await refused("web/7")).toContain("web/7' doesn't exist");
    expect(await refused("nobody")).toContain("has no instances in a group 'nobody'");
    await shop("stop", "--hard", "db");
    expect(await refused("db/0")).toContain("has no VM");
  });
});
