import { mkdir, readdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { connect } from "node:tls";
import { blobId } from "@slipway/engine/blobs/blob-id";
import { systemClock } from "@slipway/kernel/clock";
import { systemRandom } from "@slipway/kernel/random";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { TEST_CERT } from "@slipway/testkit/tls-fixture";
import { describe, expect, it } from "vitest";
import { enqueue } from "../tasks/queue.ts";
import { TaskRunner } from "../tasks/runner.ts";
import { basic, startHarness } from "./testing/harness.ts";
import { UploadSpace } from "./upload-space.ts";
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

describe("an archive whose task is over", () => {
  it("is removed at once: of one that was cancelled before it began, and what one had unpacked", async () => {
    const api = await startHarness();
    const space = new UploadSpace();
    const runner = new TaskRunner({
      db: api.db,
      works: {},
      clock: systemClock,
      random: systemRandom,
      alone: true,
      onOver: () => void sweepUploads(api.db, api.uploadsDir, systemRandom, space),
      onError: () => undefined,
    });
    try {
      const arrived = async (n: number) => {
        const path = join(api.uploadsDir, uploadName(n));
        await writeFile(path, "bits");
        const params = { path, fix: false };
        return enqueue(api.db, {
          type: "update_stemcell",
          description: "create stemcell",
          user: "admin",
          params,
        });
      };
      const [first, second] = [await arrived(1), await arrived(2)];
      for (const id of [second, 999]) await mkdir(join(api.uploadsDir, `unpacked-${id}`));
      await writeFile(join(api.uploadsDir, uploadName(3)), "bits");
      await space.arriving(blobId(uploadName(3)), async () => {
        await runner.cancel(first);
        const left = [uploadName(2), uploadName(3), `unpacked-${second}`].sort();
        await expect.poll(async () => (await readdir(api.uploadsDir)).sort()).toEqual(left);
      });
    } finally {
      await runner.stop();
      await api.close();
    }
  });
});

describe("uploads that come at the same time", () => {
  it("get no more space together than there is", async () => {
    const clock = fakeClock();
    const api = await startHarness({ clock, uploads: new UploadSpace(async () => 3500) });
    const head = "POST /stemcells HTTP/1.1\r\nContent-Type: application/x-compressed";
    const all = Array.from({ length: 6 }, () => begin(api.port, head));
    try {
      const refused = () => all.filter(({ received }) => /^HTTP\/1.1 4|^HTTP\/1.1 5/.test(received()));
      // A refused client may still be sending: the server waits for it.
      await expect.poll(() => clock.waiting).toBe(3);
      await clock.advance(20_000);
      await expect.poll(() => refused().length).toBe(3);
      // The others may be a moment later to begin their files.
      await expect.poll(() => readdir(api.uploadsDir)).toHaveLength(3);
      const [first] = refused().map(({ received }) => received());
      expect(first).toMatch(/^HTTP\/1.1 507 /);
      expect(first).toContain("more than the 0 MiB that may be used");
      expect(first).toContain("the last 256 MiB that are free there are kept for the database");
      expect(first).toContain('"code":500001');
      expect(api.errors).toEqual([]);
    } finally {
      for (const one of all) one.end();
      const closing = api.close();
      await clock.advance(1000);
      await closing;
    }
  });

  it("take room bit by bit if their size is unknown, fail alone, and free what they had", async () => {
    let free = 100;
    const space = new UploadSpace(async () => free);
    const tooLarge = (room: number) => new Error(`only ${room}`);
    await expect(
      space.claim("/x", 0, tooLarge, async (claim) => {
        await claim.take(60);
        free -= 60;
        await claim.take(40);
        free -= 40;
        await claim.take(1);
      }),
    ).rejects.toThrow("only 0");
    free = 100;
    await space.claim("/x", 100, tooLarge, async () => {
      await expect(space.claim("/x", 1, tooLarge, async () => undefined)).rejects.toThrow("only 0");
    });
  });
});

describe("a server", () => {
  it("does not wait forever for an upload when it stops, and keeps nothing of it", async () => {
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
