import { readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { TEST_CERT } from "@slipway/testkit/tls-fixture";
import { describe, expect, it } from "vitest";
import { enqueue } from "../tasks/queue.ts";
import { basic, startHarness } from "./testing/harness.ts";
import { sweepUploads } from "./uploads.ts";

const uploadName = (n: number) => `stemcell-00000000-0000-4000-8000-00000000000${n}.tgz`;

function begin(port: number, head: string): { received: () => string; end: () => void } {
  const socket = connect({ host: "127.0.0.1", port, ca: TEST_CERT, servername: "localhost" });
  let received = "";
  socket.on("error", () => undefined);
  socket.on("data", (chunk: Buffer) => {
    received += chunk.toString("utf8");
  });
  socket.write(
    `${head}\r\nHost: x\r\nAuthorization: ${basic("admin", "admin-pw")}\r\nContent-Length: 1000\r\n\r\nhalf`,
  );
  return { received: () => received, end: () => socket.destroy() };
}

describe("archives left by a crash", () => {
  it("are removed at the start, unless a task that is not over wants them", async () => {
    const api = await startHarness();
    try {
      const upload = async (n: number) => {
        const path = join(api.uploadsDir, uploadName(n));
        await writeFile(path, "bits");
        return path;
      };
      const task = async (path: string) =>
        enqueue(api.db, {
          type: "update_stemcell",
          description: "create stemcell",
          user: "admin",
          params: { path, fix: false },
        });
      await task(await upload(1));
      const over = await task(await upload(2));
      await api.db.updateTable("tasks").set({ state: "error" }).where("id", "=", over).execute();
      await upload(3);
      await writeFile(join(api.uploadsDir, "something-else"), "kept");
      await writeFile(join(api.uploadsDir, `.${uploadName(4)}.half`), "came half");
      expect([...(await sweepUploads(api.db, api.uploadsDir, systemRandom))].sort()).toEqual([
        uploadName(2),
        uploadName(3),
      ]);
      expect((await readdir(api.uploadsDir)).sort()).toEqual(["something-else", uploadName(1)]);
    } finally {
      await api.close();
    }
  });
});

describe("a server", () => {
  it("that stops does not wait for ever for an upload, and keeps nothing of it", async () => {
    const api = await startHarness();
    const upload = begin(api.port, "POST /stemcells HTTP/1.1\r\nContent-Type: application/x-compressed");
    await expect.poll(async () => (await readdir(api.uploadsDir)).length).toBe(1);
    await api.close();
    upload.end();
    expect(api.queued).toEqual([]);
  });

  it("answers a body that takes too long with 408", async () => {
    const clock = fakeClock();
    const api = await startHarness({ clock });
    const slow = begin(api.port, "POST /tasks/cancel HTTP/1.1\r\nContent-Type: application/json");
    try {
      await expect.poll(() => clock.waiting).toBeGreaterThan(0);
      await clock.advance(60_000);
      // Then it waits a little for what is still on its way.
      await expect.poll(() => clock.waiting).toBeGreaterThan(0);
      await clock.advance(20_000);
      await expect.poll(slow.received).toContain("HTTP/1.1 408");
    } finally {
      slow.end();
      const closing = api.close();
      await clock.advance(1000);
      await closing;
    }
  });
});
