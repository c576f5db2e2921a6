import { mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { describe, expect, it } from "vitest";
import { SettingsNotFound, StepFailed } from "../settings/errors.ts";
import { AGENT_ID, SETTINGS } from "../settings/testing/settings-lab.ts";
import { agentOn, FakeVm } from "./testing/fake-vm.ts";

const withDisk = () => {
  const vm = new FakeVm();
  vm.devices.set("vol-1", "/dev/a");
  vm.formatted.add("/dev/a");
  return vm;
};
const managed = async (agent: { paths: { managedDisk: string } }, cid: string) =>
  await writeFile(agent.paths.managedDisk, cid);

/** Lets time pass until the agent is there; its real files take real time, of which the clock knows nothing. */
const passes = async (
  process: ReturnType<Awaited<ReturnType<typeof agentOn>>["start"]>,
  over: () => Promise<boolean>,
) => {
  while (!(await over())) await process.clock.advance(1000);
};

const ends = async (process: Parameters<typeof passes>[0]) => {
  let ended = false;
  process.ended
    .catch(() => undefined)
    .finally(() => {
      ended = true;
    });
  await passes(process, async () => ended);
};

describe("an agent", () => {
  it("starts in upstream's order, answers, sends a heartbeat, and ends when asked", async () => {
    const vm = withDisk();
    const agent = await agentOn(vm);
    await managed(agent, "vol-1");
    const process = agent.start();
    await expect.poll(() => process.ask("ping")).toBe("pong");
    expect(vm.done).toEqual([
      "password root",
      "password vcap",
      `hostname ${AGENT_ID}`,
      "hosts",
      "networks private",
      `ephemeral ${agent.paths.data}`,
      "grow root",
      "system directories",
      "ntp 0",
      "logging",
      "memory undefined false undefined false",
      "temporary directories",
      "prepare /dev/a",
      `mount /dev/a1 ${agent.paths.store} noatime`,
    ]);
    await expect.poll(() => process.transports[0]?.published[0]?.topic).toBe("heartbeat");
    expect(await process.end()).toEqual({ kind: "stopped" });
    expect(process.transports[0]?.closed).toBe(true);
    expect(
      agent.log.lines.filter((line) => line.startsWith("ready: settings from File /settings.json")),
    ).toHaveLength(1);
  });

  it("sets host name and hosts once in the life of a VM", async () => {
    const vm = withDisk();
    const agent = await agentOn(vm);
    for (const _ of [1, 2]) {
      const process = agent.start();
      await expect.poll(() => process.ask("ping")).toBe("pong");
      await process.end();
    }
    expect(vm.done.filter((deed) => deed === "hosts")).toHaveLength(1);
  });

  it("can be killed at every step of its start, and the next start makes it whole", async () => {
    const whole = withDisk();
    const model = await agentOn(whole);
    await managed(model, "vol-1");
    const first = model.start();
    await expect.poll(() => first.ask("ping")).toBe("pong");
    await first.end();
    for (let at = 0; at < whole.done.length; at++) {
      const vm = withDisk();
      const agent = await agentOn(vm);
      await managed(agent, "vol-1");
      let deeds = 0;
      vm.fail = () => {
        if (deeds++ >= at) throw new Error("killed");
      };
      const killed = agent.start();
      await expect.poll(() => agent.log.lines.join("\n")).toMatch(/killed/);
      await killed.end();
      vm.fail = () => {};
      const next = agent.start();
      await expect.poll(() => next.ask("ping")).toBe("pong");
      expect(vm.mounts).toEqual([{ source: "/dev/a1", target: agent.paths.store, readOnly: false }]);
      await next.end();
    }
  });

  it("lets callers in before its disks are there, and tells them what it waits for", async () => {
    const vm = new FakeVm();
    const agent = await agentOn(vm);
    await managed(agent, "vol-1");
    const process = agent.start();
    await expect
      .poll(() => process.ask("ping"))
      .toBe("restarting agent: waiting for the device of persistent disk vol-1 (persistent disk, 0 s)");
    expect(await process.ask("info")).toMatchObject({ api_version: 1 });
    vm.devices.set("vol-1", "/dev/a");
    vm.formatted.add("/dev/a");
    await passes(process, async () => (await process.ask("ping")) === "pong");
    await process.end();
  });

  it("is reachable by its stored settings while their source does not answer, and then uses them", async () => {
    const vm = withDisk();
    const agent = await agentOn(vm);
    const first = agent.start();
    await expect.poll(() => first.ask("ping")).toBe("pong");
    await first.end();
    await rm(agent.paths.system("settings.json"));
    const process = agent.start();
    await expect
      .poll(() => process.ask("ping"))
      .toMatch(/^restarting agent: waiting for settings \(round 1 of 3\)/);
    await passes(process, async () => (await process.ask("ping")) === "pong");
    await process.end();
  });

  it("moves to another address when the source names one", async () => {
    const vm = withDisk();
    const agent = await agentOn(vm);
    const first = agent.start();
    await expect.poll(() => first.ask("ping")).toBe("pong");
    await first.end();
    await writeFile(
      agent.paths.system("settings.json"),
      JSON.stringify({ ...SETTINGS, mbus: "https://u:p@other:1" }),
    );
    const process = agent.start();
    await expect.poll(() => process.ask("ping")).toBe("pong");
    expect(process.transports.map((transport) => transport.closed)).toEqual([true, false]);
    await process.end();
  });

  it("repeats a step that fails, tells its cause meanwhile, and gives up after a while", async () => {
    const vm = withDisk();
    vm.fail = (deed) => {
      if (deed.startsWith("networks")) throw new Error("no carrier");
    };
    const agent = await agentOn(vm);
    const process = agent.start();
    await expect.poll(() => process.ask("ping")).toContain("another try after: no carrier (networks");
    await ends(process);
    await expect(process.ended).rejects.toSatisfy(StepFailed.is);
  });

  it("ends with the reason when there are no settings at all", async () => {
    const agent = await agentOn(withDisk());
    await rm(agent.paths.system("settings.json"));
    const process = agent.start();
    await ends(process);
    await expect(process.ended).rejects.toSatisfy(SettingsNotFound.is);
  });

  it("stays reachable without its disk, says so, and is well again when the disk is mounted", async () => {
    const vm = new FakeVm();
    const agent = await agentOn(vm);
    await managed(agent, "vol-gone");
    const process = agent.start({
      actions: {
        ping: async () => "pong",
        get_state: async (_, { services }) => ({ job_state: (await services.supervisor.status()).state }),
        list_disk: async () => [],
        mount_disk: async ({ diskCid }, { services }) => {
          await services.managedDisk.save(diskCid);
          return {};
        },
      },
    });
    await expect
      .poll(() => process.ask("ping"))
      .toContain("persistent disk vol-gone, mounted before the restart");
    expect(await process.ask("get_state")).toMatchObject({
      job_state: "failing",
      problems: [expect.any(String)],
    });
    await process.ask("mount_disk", "vol-2");
    await expect.poll(() => process.ask("get_state")).toEqual({ job_state: "running" });
    expect(await process.ask("ping")).toBe("pong");
    await process.end();
  });

  it("ends to be started again when the bus changes, after its reply has had time to leave", async () => {
    const agent = await agentOn(withDisk());
    const process = agent.start({
      actions: {
        ping: async (_, { services }) => {
          services.restart("the bus changed");
          return "pong";
        },
      },
    });
    await expect.poll(() => process.ask("ping")).toBe("pong");
    await process.clock.advance(999);
    expect(process.transports[0]?.closed).toBe(false);
    await process.clock.advance(1);
    expect(await process.ended).toEqual({ kind: "restart", why: "the bus changed" });
  });

  it("does not care when the time of day jumps: heartbeats come in their time, and so does the end of waiting", async () => {
    const vm = new FakeVm();
    const agent = await agentOn(vm);
    await managed(agent, "vol-1");
    const clock = fakeClock();
    const YEAR = 365 * 86_400_000;
    let jump = 0;
    const process = agent.start({ clock: { ...clock, now: () => clock.now() + jump } });
    await expect.poll(() => process.ask("ping")).toContain("waiting for the device of persistent disk vol-1");
    for (const next of [30 * YEAR, -30 * YEAR, 0]) {
      jump = next;
      expect(await process.ask("ping")).toContain("(persistent disk, 0 s)");
    }
    vm.devices.set("vol-1", "/dev/a");
    vm.formatted.add("/dev/a");
    while ((await process.ask("ping")) !== "pong") await clock.advance(1000);
    const beats = () => process.transports[0]?.published.length ?? 0;
    await expect.poll(beats).toBe(1);
    for (const [index, next] of [-30 * YEAR, 30 * YEAR].entries()) {
      jump = next;
      await clock.advance(29_000);
      expect(beats()).toBe(index + 1);
      await clock.advance(1_000);
      await expect.poll(beats).toBe(index + 2);
    }
    await process.end();
  });

  it("makes upstream's directories and keeps what stood in the place of a link", async () => {
    const vm = withDisk();
    const agent = await agentOn(vm);
    await mkdir(join(agent.paths.base, "sys"));
    await writeFile(join(agent.paths.base, "sys", "old"), "log");
    const process = agent.start();
    await expect.poll(() => process.ask("ping")).toBe("pong");
    expect((await stat(agent.paths.blobs)).mode & 0o777).toBe(0o700);
    expect((await stat(agent.paths.sysLog)).mode & 0o777).toBe(0o750);
    for (const path of [agent.paths.blobs, join(agent.paths.data, "sys", "log")])
      expect(vm.owners.get(path)).toBe("root:vcap");
    expect(await readFile(join(agent.paths.base, "sys.before-link", "old"), "utf8")).toBe("log");
    expect((await readdir(agent.paths.boshDir)).sort()).toContain("settings.json");
    await process.end();
  });
});
