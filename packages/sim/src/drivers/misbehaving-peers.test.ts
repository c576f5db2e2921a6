import type { CpiRequest, CpiResponse } from "@slipway/protocol/cpi/envelope";
import { sampleOf } from "@slipway/testkit/sample";
import { sampleTests } from "@slipway/testkit/sample-tests";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { deleteTask, deployTask } from "../crash/scenarios/tasks.ts";
import type { SimAnswer } from "../world/sim-agent.ts";
import { cpiError } from "./faults.ts";
import { Bench } from "./testing/bench.ts";
import type { Interference } from "./watch-clients.ts";

sampleTests(1 / 4);

const shop = (disk: string) => deployTask({ name: "shop", groups: [{ name: "db", instances: 1, disk }] });
const DEPLOY = shop("d1");
const INSTANCE = /db\/[0-9a-f-]{36} \(0\)/;

let bench: Bench;
beforeAll(async () => {
  bench = await Bench.open();
  await bench.prepare({ cpi: { remembers: true }, before: [] });
});
afterAll(() => bench.close());
beforeEach(() => bench.rewind());

/** The next deploy, of a world that behaves: one VM, one disk, nothing open, and nothing more to do. */
async function converges(): Promise<void> {
  const { state, message } = await bench.run(DEPLOY, { seed: "good" });
  expect(`${state} ${message}`).toBe("done ");
  expect([...(await bench.broken()), ...(await bench.misplaced())]).toEqual([]);
  expect([bench.world.vms.size, bench.world.disks.size]).toEqual([1, 1]);
  const { openIntents, strays } = await bench.remembered();
  expect([...openIntents, ...strays]).toEqual([]);
  const again = await bench.run(DEPLOY, { seed: "again" });
  expect([again.state, again.changing]).toEqual(["done", []]);
}

const agent = (answer: (method: string) => SimAnswer | undefined): Interference => ({
  ask: ({ method }) => {
    const given = answer(method);
    return given && Promise.resolve(given);
  },
});
const state = (more: object) =>
  agent((method) =>
    method === "get_state" ? { value: { job_state: "running", networks: {}, ...more } } : undefined,
  );

describe("an agent without add_persistent_disk gets its disk by messages it knows", () => {
  const told = (calls: Awaited<ReturnType<Bench["run"]>>["calls"]) =>
    calls.flatMap(({ peer, method }) =>
      peer === "agent" && /persistent_disk|mount_disk|settings/.test(method) ? [method] : [],
    );

  const GENERATIONS = [
    ["first design", ["update_settings", "add_persistent_disk", "update_persistent_disk", "mount_disk"]],
    [
      "first",
      ["update_settings", "add_persistent_disk", "update_persistent_disk", "update_settings", "mount_disk"],
    ],
    [
      "draft B",
      ["update_settings", "add_persistent_disk", "update_persistent_disk", "update_settings", "mount_disk"],
    ],
  ] as const;
  it.each(sampleOf("generations of agents", GENERATIONS, 1))(
    "%s: deployed, recreated, its disk replaced",
    async (generation, messages) => {
      bench.world.generation = generation;
      const deployed = await bench.run(DEPLOY, { seed: "first" });
      expect(`${deployed.state} ${deployed.message}`).toBe("done ");
      expect(told(deployed.calls)).toEqual(messages);
      const larger = await bench.run(shop("d2"), { seed: "larger" });
      expect(`${larger.state} ${larger.message}`).toBe("done ");
      expect(await bench.broken()).toEqual([]);
      const [vm] = bench.world.vms.values();
      expect(bench.world.disks.get(vm?.agent.store ?? "")?.data).toMatch(/^first mounted as /);
    },
  );
});

describe("an agent that cannot be worked with: the deploy says whose and why, the next one converges", () => {
  it.each(
    sampleOf(
      "bad agents",
      [
        ["never answers", agent(() => ({ silent: "connection refused" })), [/connection refused/]],
        ["refuses everything", agent(() => ({ exception: "not today" })), [/not today/]],
        ["never runs its jobs", state({ job_state: "failing" }), [/not running/, /'failing'/]],
        ["has no networks but a text", state({ networks: "eth0" }), [/get_state/, /networks/]],
        ["has no job state", state({ job_state: 7 }), [/get_state/, /job_state/]],
        [
          "answers with null",
          agent((method) => (method === "get_state" ? { value: null } : undefined)),
          [/get_state/],
        ],
        [
          "does not find its disk",
          agent((method) => (method === "mount_disk" ? { exception: "no device" } : undefined)),
          [/mount/, /no device/],
        ],
      ] as const,
      3,
    ),
  )("%s", async (_, interference, says) => {
    const { state: ended, message } = await bench.run(DEPLOY, { interference, seed: "bad" });
    expect(ended).toBe("error");
    expect(message).toMatch(INSTANCE);
    for (const word of says) expect(message).toMatch(word);
    expect(await bench.broken()).toEqual([]);
    await converges();
  });

  it("a VM whose agent never answered is not left behind", async () => {
    await bench.run(DEPLOY, { interference: agent(() => ({ silent: "no route" })), seed: "bad" });
    expect(bench.world.vms.size).toBe(0);
  });

  it("an agent that stops answering is left alone without --fix, and replaced with it", async () => {
    expect((await bench.run(DEPLOY, { seed: "first" })).state).toBe("done");
    const [old] = bench.world.vms.values();
    const silent: Interference = {
      ask: (call) =>
        call.peer === "agent" && call.agentId === old?.agentId
          ? Promise.resolve({ silent: "no route" })
          : undefined,
    };
    const plain = await bench.run(DEPLOY, { interference: silent, seed: "plain" });
    expect([plain.state, plain.changing]).toEqual(["error", []]);
    expect(plain.message).toMatch(INSTANCE);
    expect(plain.message).toMatch(/no route/);
    expect(plain.message).toMatch(/--fix/);
    const options = { ...(DEPLOY.params.options as object), fix: true };
    const fixed = await bench.run(
      { ...DEPLOY, params: { ...DEPLOY.params, options } },
      { interference: silent, seed: "fix" },
    );
    expect(`${fixed.state} ${fixed.message}`).toBe("done ");
    expect(bench.world.vms.has(old?.cid ?? "")).toBe(false);
    await converges();
  });
});

describe("a CPI whose attach_disk says where no disk is", () => {
  const wrong: Interference = {
    cpi: (call, carryOut) =>
      call.method === "attach_disk"
        ? carryOut().then((reply): CpiResponse => ({ ...reply, result: { path: "/nowhere" } as never }))
        : undefined,
    ask: ({ method }) =>
      method === "mount_disk" ? Promise.resolve({ exception: "no /nowhere" }) : undefined,
  };
  const hints = async () => {
    const [instance] = (await bench.remembered()).instances;
    return instance?.disks.map(({ hint }) => hint);
  };

  it("is asked again by the next deploy for a first disk, once it is mended", async () => {
    const bad = await bench.run(DEPLOY, { interference: wrong, seed: "bad" });
    expect(bad.message).toMatch(/no \/nowhere/);
    expect(await hints()).toEqual([{ path: "/nowhere" }]);
    const { changing, state: ended } = await bench.run(DEPLOY, { seed: "mended" });
    expect(ended).toBe("done");
    expect(changing.filter((call) => call.includes("tach_disk"))).toEqual([
      "cpi detach_disk",
      "cpi attach_disk",
    ]);
    expect(await hints()).not.toEqual([{ path: "/nowhere" }]);
    await converges();
  });

  it("is asked again for a disk with data on a new VM, once it is mended", async () => {
    await bench.run(DEPLOY, { seed: "first" });
    const options = { ...(DEPLOY.params.options as object), recreate: true };
    const recreate = { ...DEPLOY, params: { ...DEPLOY.params, options } };
    const bad = await bench.run(recreate, { interference: wrong, seed: "bad" });
    expect(bad.message).toMatch(/no \/nowhere/);
    const { changing } = await bench.run(DEPLOY, { seed: "mended" });
    expect(changing.filter((call) => call.includes("tach_disk"))).toEqual([
      "cpi detach_disk",
      "cpi attach_disk",
    ]);
    await converges();
  });
});

/** The CPI does the work and says something else. */
const says = (method: string, result: unknown): Interference => ({
  cpi: (call, carryOut) =>
    call.method === method
      ? carryOut().then((reply): CpiResponse => ({ ...reply, result: result as never }))
      : undefined,
});

describe("a CPI that breaks its contract: the deploy says at what, nothing is made twice", () => {
  it.each(
    sampleOf(
      "bad CPIs",
      [
        ["create_vm", 42],
        ["create_vm", ""],
        ["create_vm", ["", {}]],
        ["create_vm", null],
        ["create_vm", { cid: "vm-1" }],
        ["create_disk", ""],
        ["create_disk", { id: "disk-1" }],
        ["attach_disk", 42],
        ["info", "hello"],
      ] as const,
      3,
    ),
  )("%s returns %j", async (method, result) => {
    const { state: ended, message } = await bench.run(DEPLOY, {
      interference: says(method, result),
      seed: "bad",
    });
    expect(ended).toBe("error");
    expect(message).toMatch(INSTANCE);
    expect(message).toContain(method);
    expect(message).toMatch(/cpi log|task --cpi|contract/);
    await converges();
  });
});

describe("a VM that the cloud could not make", () => {
  const refusing = (times: number, okToRetry: boolean) => {
    const requests: CpiRequest[] = [];
    const interference: Interference = {
      cpi: (call) => {
        if (call.peer !== "cpi" || call.method !== "create_vm") return undefined;
        requests.push(call.request);
        if (requests.length > times) return undefined;
        return Promise.resolve(cpiError("Bosh::Clouds::VMCreationFailed", "no host has room", okToRetry));
      },
    };
    const ids = () => requests.map(({ context }) => context.request_id);
    return { interference, ids };
  };

  it("is tried five times, each with a new request id and agent, then the deploy fails", async () => {
    const { interference, ids } = refusing(99, true);
    const { state: ended, message } = await bench.run(DEPLOY, { interference, seed: "bad" });
    expect(ended).toBe("error");
    expect(message).toMatch(INSTANCE);
    expect(message).toMatch(/no host has room/);
    expect(ids()).toHaveLength(5);
    expect(new Set(ids()).size).toBe(5);
    expect(await bench.broken()).toEqual([]);
    await converges();
  });

  it("is made if the fifth try succeeds, and the deploy goes on", async () => {
    const { interference, ids } = refusing(4, true);
    const { state: ended } = await bench.run(DEPLOY, { interference, seed: "bad" });
    expect([ended, ids().length]).toEqual(["done", 5]);
    await converges();
  });

  it("is tried once when the CPI says that it is of no use", async () => {
    const { interference, ids } = refusing(99, false);
    const { state: ended } = await bench.run(DEPLOY, { interference, seed: "bad" });
    expect([ended, ids().length]).toEqual(["error", 1]);
    await converges();
  });
});

describe("a disk the CPI cannot resize", () => {
  it.each(["Bosh::Clouds::NotSupported", "Bosh::Clouds::NotImplemented"])("is copied: %s", async (type) => {
    await bench.prepare({ cpi: { remembers: true, resizes: true }, before: [DEPLOY] });
    const {
      state: ended,
      message,
      changing,
    } = await bench.run(shop("d2"), {
      seed: "resize",
      interference: {
        cpi: ({ method }) =>
          method === "resize_disk"
            ? Promise.resolve(cpiError(type, "this cloud does not resize"))
            : undefined,
      },
    });
    expect(`${ended} ${message}`).toBe("done ");
    expect(changing).toContain("cpi resize_disk");
    expect(changing).toContain("agent migrate_disk");
    expect([...(await bench.broken()), ...bench.lost(), ...(await bench.misplaced())]).toEqual([]);
    const again = await bench.run(shop("d2"), { seed: "again" });
    expect([again.state, again.changing]).toEqual(["done", []]);
  });
});

describe("an agent that answers, and does not do what a deletion asks of it", () => {
  /** Makes an agent whose monit refuses a message. */
  const refuses = (refused: string) =>
    agent((method) =>
      method === refused ? { exception: "Action Failed get_task: 403 Forbidden" } : undefined,
    );

  it.each(["stop", "unmount_disk"])(
    "keeps its deployment by refusing %s, unless it is forced",
    async (method) => {
      await bench.run(DEPLOY, { seed: "deploy" });
      const kept = await bench.run(deleteTask(), { seed: "kept", interference: refuses(method) });
      expect(kept.state).toBe("error");
      expect(kept.message).toContain("403 Forbidden");
      expect(bench.world.vms.size).toBe(1);
      const forced = await bench.run(deleteTask(true), { seed: "forced", interference: refuses(method) });
      expect(`${forced.state} ${forced.message}`).toBe("done ");
      expect([bench.world.vms.size, bench.world.disks.size]).toEqual([0, 1]);
      expect([...(await bench.broken()), ...(await bench.misplaced())]).toEqual([]);
      const { instances, openIntents } = await bench.remembered();
      expect([instances, openIntents]).toEqual([[], []]);
    },
  );

  it("does not let --force go on when the cloud refuses: nothing is lost", async () => {
    await bench.run(DEPLOY, { seed: "deploy" });
    const cloud: Interference = {
      ...refuses("stop"),
      cpi: ({ method }) =>
        method === "delete_vm" ? Promise.resolve(cpiError("Bosh::Clouds::CloudError", "no")) : undefined,
    };
    expect((await bench.run(deleteTask(true), { seed: "cloud", interference: cloud })).state).toBe("error");
    await converges();
  });
});
