import { rm } from "node:fs/promises";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type FakeWorld, fakeWorld } from "../testing/fake-services.ts";
import type { ActionCall } from "./action.ts";
import { deleteArpEntries } from "./delete_arp_entries.ts";
import { shutdown } from "./shutdown.ts";
import { start } from "./start.ts";
import { stop } from "./stop.ts";
import { uploadBlob } from "./upload_blob.ts";

let world: FakeWorld;
let call: ActionCall;

beforeEach(async () => {
  world = await fakeWorld();
  call = { services: world.services, protocol: 3, signal: new AbortController().signal };
});
afterEach(() => rm(world.services.paths.base, { recursive: true, force: true }));

test("delete_arp_entries hands the addresses on; none is fine", async () => {
  expect(await deleteArpEntries({ addresses: { ips: ["10.0.0.5"] } }, call)).toEqual({});
  expect(await deleteArpEntries({ addresses: { ips: null } } as never, call)).toEqual({});
  expect(world.told).toEqual([
    { what: "deleteArpEntries", args: [["10.0.0.5"]] },
    { what: "deleteArpEntries", args: [[]] },
  ]);
});

test("shutdown powers off and answers the empty text", async () => {
  expect(await shutdown({}, call)).toBe("");
  expect(world.told).toEqual([{ what: "powerOff", args: [] }]);
});

test("start and stop answer upstream's words after the supervisor did so", async () => {
  const done: string[] = [];
  const supervisor = {
    ...world.services.supervisor,
    start: async () => void done.push("start"),
    stop: async () => void done.push("stop"),
  };
  const own = { ...call, services: { ...world.services, supervisor } };
  expect(await stop({}, own)).toBe("stopped");
  expect(await start({}, own)).toBe("started");
  expect(done).toEqual(["stop", "start"]);
});

/** "hello", and its SHA-1. */
const [PAYLOAD, SHA1] = ["aGVs\nbG8=\n", "aaf4c61ddcc5e8a2dabede0f3b482cd9aea9434d"];

test("upload_blob keeps what has the digest, Ruby's line breaks or not", async () => {
  const blob = { blob_id: "blob-1", checksum: SHA1, payload: PAYLOAD };
  expect(await uploadBlob({ blob } as never, call)).toBe("blob-1");
  expect(world.told).toEqual([{ what: "write sensitive", args: ["blob-1", Buffer.from("hello")] }]);
});

test.each([
  [{ checksum: "0".repeat(40) }, `Payload corrupted. Checksum mismatch. Expected '${"0".repeat(40)}'`],
  [{ blob_id: "../x" }, "the blob id cannot be the name of a file"],
])("upload_blob refuses %j and keeps nothing", async (wrong, why) => {
  const blob = { blob_id: "blob-1", checksum: SHA1, payload: PAYLOAD, ...wrong };
  await expect(uploadBlob({ blob } as never, call)).rejects.toThrow(why);
  expect(world.told).toEqual([]);
});
