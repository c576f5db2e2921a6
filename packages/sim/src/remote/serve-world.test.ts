import { mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SimWorld } from "../world/world.ts";
import { serveWorld } from "./serve-world.ts";

describe("serveWorld", () => {
  let dir = "";
  beforeEach(async () => {
    dir = await mkdtemp(join(tmpdir(), "slipway-world-"));
  });
  afterEach(() => rm(dir, { recursive: true, force: true }));

  it("is quiet only after a call that was sent and not yet read", async () => {
    const done: string[] = [];
    const path = join(dir, "world.sock");
    const server = await serveWorld(
      new SimWorld(),
      async ({ method }) => {
        await new Promise((resolve) => setImmediate(resolve));
        done.push(method);
        return { result: null as never, error: null, log: "" };
      },
      path,
    );
    const socket = connect(path);
    const send = (id: number, method: string) =>
      new Promise((sent) => socket.write(`${JSON.stringify({ id, cpi: { method } })}\n`, sent));
    await send(1, "info");
    await server.quiet();
    const sent = send(2, "create_vm");
    await server.quiet();
    await sent;
    expect(done).toEqual(["info", "create_vm"]);
    socket.destroy();
    await server.close();
  });
});
