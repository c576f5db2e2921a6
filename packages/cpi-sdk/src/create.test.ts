import { fakeClock } from "@slipway/testkit/fake-clock";
import { type CloudMethods, cloudCpi, MemoryCloud, makeVm } from "@slipway/testkit/memory-cloud";
import { deadEndpoint } from "@slipway/testkit/registry";
import { ask, errorOf, resultOf, typeOf, vmArgs } from "@slipway/testkit/requests";
import { latch, quickClock } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { diskNotFound, vmCreationFailed, vmNotFound } from "./errors.ts";
import { exampleRequest } from "./testing/examples.ts";
import { undoStage, usual } from "./testing/undo-stage.ts";

const CREATE = ask("create_vm", vmArgs());
const OLD = ask("create_vm", vmArgs(), { version: 1, stemcell: 1 });

describe("when create_vm fails", () => {
  it("after the VM exists, the VM goes first, then what the author registered, last first", async () => {
    const { cpi, cloud, done } = undoStage({ createVm: usual });
    const client = embed(cpi, {
      config: { registry: { endpoint: await deadEndpoint() } },
      clock: quickClock,
    });
    expect(errorOf(await client.request(OLD)).message).toContain("ECONNREFUSED");
    expect(done).toEqual(["delete vm-1", "undo 2", "undo 1"]);
    expect(cloud.vms.size).toBe(0);
  });

  it("an undo that finds the VM gone raises no alarm if the registry is the cause, and the cause keeps its code", async () => {
    const { cpi, cloud } = undoStage({
      createVm: (cloud) => async (args, call) => {
        const { cid } = makeVm(cloud, args, call);
        call.cleanup(() => {
          if (!cloud.vms.has(cid)) throw new Error("404 from the cloud itself");
        });
        return { cid };
      },
    });
    const config = { registry: { endpoint: await deadEndpoint() } };
    const { message } = errorOf(await embed(cpi, { config, clock: quickClock }).request(OLD));
    expect(message).toMatch(/^REG-031 .*Check that the registry runs/);
    expect(message).not.toContain("left behind");
    expect(cloud.vms.size).toBe(0);
  });

  it("in the author's method, what was registered so far is undone before the error is returned", async () => {
    const { cpi, done } = undoStage({
      createVm: (cloud, done) => async (args, call) => {
        await usual(cloud, done)(args, call);
        throw vmCreationFailed("no capacity", { okToRetry: true });
      },
    });
    expect(errorOf(await embed(cpi).request(CREATE))).toEqual({
      type: typeOf("VMCreationFailed"),
      message: "no capacity",
      ok_to_retry: true,
    });
    expect(done).toEqual(["undo 2", "undo 1"]);
  });

  it.each([undefined, "vm-1", { cid: 42 }, { cid: "" }])(
    "because the author returned %j, what it registered is undone",
    async (value) => {
      const { cpi, done } = undoStage({
        createVm: (cloud, done) => async (args, call) => {
          await usual(cloud, done)(args, call);
          return value as never;
        },
      });
      expect(errorOf(await embed(cpi).request(CREATE)).type).toBe(typeOf("CpiError"));
      expect(done).toEqual(["undo 2", "undo 1"]);
    },
  );

  it.each(["createDisk", "createStemcell", "snapshotDisk", "createNetwork"])(
    "so do the other create methods: %s",
    async (key) => {
      const done: string[] = [];
      const create = (_: unknown, call: { cleanup: (undo: () => void) => void }) => {
        call.cleanup(() => void done.push("undo"));
        return 42;
      };
      const name = key.replace(/[A-Z]/, (letter) => `_${letter.toLowerCase()}`);
      const client = embed(cloudCpi(new MemoryCloud(), { methods: { [key]: create } }));
      const error = errorOf(await client.request(ask(name, exampleRequest(name, 2).arguments)));
      expect(error.type).toBe(typeOf("CpiError"));
      expect(done).toEqual(["undo"]);
    },
  );

  it("not at all, nothing is undone", async () => {
    const { cpi, cloud, done } = undoStage({ createVm: usual });
    resultOf(await embed(cpi).request(CREATE));
    expect(done).toEqual([]);
    expect(cloud.vms.size).toBe(1);
  });

  it("because the author asked for no user-data, the VM is removed and the bug named", async () => {
    const { cpi, done } = undoStage({ createVm: () => () => ({ cid: "vm-dumb" }) });
    const error = errorOf(await embed(cpi).request(CREATE));
    expect(error.type).toBe(typeOf("CpiError"));
    expect(error.message).toContain("SDK-004");
    expect(done).toEqual(["delete vm-dumb"]);
  });

  it("because the server name is not the cid, the VM is removed: its agent would look elsewhere", async () => {
    const { cpi, done } = undoStage({
      createVm: () => (args, call) => {
        call.userData({ networks: args.networks, serverName: "server-1" });
        return { cid: "vm-1" };
      },
    });
    expect(errorOf(await embed(cpi).request(CREATE)).message).toContain(
      "the server name 'server-1', but the cid is 'vm-1'",
    );
    expect(done).toEqual(["delete vm-1"]);
  });

  it.each([
    ["networks", { networks: { a: 7 } }],
    ["disks", { networks: {}, disks: { system: { path: "/dev/sda" } } }],
    ["disks", { networks: {}, disks: { ephemeral: { lun: 0 } } }],
  ])("because userData was given wrong %s, that is said before the VM starts", async (what, settings) => {
    const { cpi, done } = undoStage({
      createVm: () => (_, call) => {
        call.cleanup(() => void done.push("undo"));
        call.userData(settings as never);
        return { cid: "vm-never" };
      },
    });
    const error = errorOf(await embed(cpi).request(CREATE));
    expect(error.type).toBe(typeOf("CpiError"));
    expect(error.message).toContain(`the CPI broke its contract: ${what}`);
    expect(done).toEqual(["undo"]);
  });
});

describe("when cleaning up fails too", () => {
  const failing =
    (undo: () => void): CloudMethods["createVm"] =>
    (_, call) => {
      call.cleanup(() => undefined);
      call.cleanup(undo);
      throw vmCreationFailed("no capacity", { okToRetry: true });
    };

  it("both failures are reported with the token, and no caller is invited to try again", async () => {
    const undo = () => {
      throw new Error("volume is busy");
    };
    const { cpi } = undoStage({ createVm: () => failing(undo) });
    const error = errorOf(await embed(cpi).request(CREATE));
    expect(error).toMatchObject({ type: typeOf("CloudError"), ok_to_retry: false });
    expect(error.message).toMatch(
      /^no capacity\. Cleaning up failed too, something may be left behind \(token [0-9a-f]{32}\): volume is busy/,
    );
  });

  it("the other undos run all the same", async () => {
    const { cpi, done } = undoStage({
      createVm: (_, done) => (_args, call) => {
        call.cleanup(() => void done.push("undo 1"));
        call.cleanup(() => Promise.reject("no"));
        call.cleanup(() => void done.push("undo 3"));
        throw new Error("boom");
      },
    });
    errorOf(await embed(cpi).request(CREATE));
    expect(done).toEqual(["undo 3", "undo 1"]);
  });

  it.each([vmNotFound("vm-1"), diskNotFound("disk-1")])("%s is no failure: it is gone", async (gone) => {
    const undo = () => {
      throw gone;
    };
    const { cpi } = undoStage({ createVm: () => failing(undo) });
    expect(errorOf(await embed(cpi).request(CREATE))).toMatchObject({
      message: "no capacity",
      ok_to_retry: true,
    });
  });

  it("gives up an undo that outlasts the grace, and reports it", async () => {
    const clock = fakeClock();
    const started = latch();
    const undo = () => {
      started.open();
      return new Promise<void>(() => {});
    };
    const { cpi, done } = undoStage({
      graceMs: 5000,
      createVm: () => (_, call) => {
        call.cleanup(() => void done.push("undo 1"));
        call.cleanup(undo);
        throw new Error("boom");
      },
    });
    const reply = embed(cpi, { clock }).request(CREATE);
    await started.opened;
    await clock.advance(5000);
    expect(errorOf(await reply).message).toMatch(/boom\. .*cleanup took too long/);
    expect(done).toEqual(["undo 1"]);
  });

  it("reports that the CPI has no method to remove the thing with", async () => {
    const methods = {
      snapshotDisk: () => "snapshot-1",
      createNetwork: () => ({ cid: "net-1", range: 7 as never }),
    };
    const client = embed(cloudCpi(new MemoryCloud(), { methods }));
    const error = errorOf(await client.request(ask("create_network", [{ type: "manual" }])));
    expect(error.message).toMatch(/range.*left behind.*the CPI has no delete_network to remove 'net-1' with/);
  });
});
