import { readdir, readFile, writeFile } from "node:fs/promises";
import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { messageTrail } from "@slipway/kernel/errors";
import { listen } from "@slipway/kernel/http-server";
import { fakeClock } from "@slipway/testkit/fake-clock";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { downloadArchive } from "./download.ts";
import { NotEnoughDisk } from "./errors.ts";

let root: string;
let remove: () => Promise<void>;
let servers: Server[];
const clock = fakeClock();

beforeEach(async () => {
  ({ path: root, remove } = await temporaryDirectory());
  servers = [];
});
afterEach(async () => {
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
  await remove();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await listen(server, "127.0.0.1", 0);
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}
const fetchTo = (url: string, free = 1 << 20, signal?: AbortSignal) =>
  downloadArchive(url, join(root, "got"), {
    clock,
    freeSpace: async () => free,
    ...(signal === undefined ? {} : { signal }),
  });
const left = () => readdir(root);

describe("downloading a stemcell", () => {
  it("writes what the server sends, following redirects", async () => {
    const host = await serve((request, response) => {
      if (request.url === "/file") response.end("bits");
      else response.writeHead(302, { location: "/file" }).end();
    });
    await fetchTo(`http://${host}/start`);
    expect(await readFile(join(root, "got"), "utf8")).toBe("bits");
  });

  it("ends when others have taken the space it began with, and leaves nothing", async () => {
    const source = join(root, "source");
    await writeFile(source, Buffer.alloc(20 << 20));
    const looks = [1 << 30, 0];
    const freeSpace = async () => looks.shift() ?? 0;
    const to = join(root, "got");
    await expect(downloadArchive(pathToFileURL(source).href, to, { clock, freeSpace })).rejects.toSatisfy(
      NotEnoughDisk.is,
    );
    expect(await left()).toEqual(["source"]);
  });

  it("copies a file of the Director's machine, but not a directory", async () => {
    await writeFile(join(root, "source"), "bits");
    await fetchTo(pathToFileURL(join(root, "source")).href);
    expect(await readFile(join(root, "got"), "utf8")).toBe("bits");
    await expect(downloadArchive(pathToFileURL(root).href, join(root, "other"), { clock })).rejects.toThrow(
      /it is not a file/,
    );
    await expect(
      downloadArchive(pathToFileURL(join(root, "none")).href, join(root, "other"), { clock }),
    ).rejects.toThrow(/there is no such file/);
    expect((await left()).sort()).toEqual(["got", "source"]);
  });

  it("sends credentials only to the host they are for, and shows them in no error", async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(404).end();
    });
    const host = await serve((request, response) => {
      seen.push(request.headers.authorization);
      response.writeHead(302, { location: `http://${other}/` }).end();
    });
    const failed = await fetchTo(`http://u%40x:pw-canary@${host}/f?sig=query-canary`).catch(
      (e: unknown) => e,
    );
    expect(seen).toEqual([`Basic ${Buffer.from("u@x:pw-canary").toString("base64")}`, undefined]);
    expect(messageTrail(failed)).toContain(`http://${host}/f cannot be downloaded: got HTTP 404`);
    expect(messageTrail(failed)).not.toMatch(/canary/);
  });

  it.each([
    ["a loop of redirects", "/", /redirects more than 10 times/],
    ["a redirect to a file", "file:///etc/passwd", /redirects to a file: address/],
    ["a redirect to nowhere", "http://[", /redirects to nowhere/],
  ])("%s is refused", async (_what, location, why) => {
    const host = await serve((_request, response) => response.writeHead(302, { location }).end());
    await expect(fetchTo(`http://${host}/`)).rejects.toThrow(why);
    expect(await left()).toEqual([]);
  });

  it.each([["ftp://x/y"], ["nonsense"], [""], ["javascript:alert(1)"]])("%j is no address", async (url) => {
    await expect(fetchTo(url)).rejects.toMatchObject({ number: 40005 });
  });

  it.each([["announced"], ["not announced"]])(
    "more than the disk holds, %s, stops and leaves nothing",
    async (how) => {
      const host = await serve((_request, response) => {
        if (how === "announced") response.setHeader("content-length", 1 << 20);
        response.write("x".repeat(200_000));
        response.end("x".repeat((1 << 20) - 200_000));
      });
      await expect(fetchTo(`http://${host}/`, 100_000)).rejects.toMatchObject({ number: 500001 });
      expect(await left()).toEqual([]);
    },
  );

  it("a body that ends early leaves nothing", async () => {
    const host = await serve((_request, response) => {
      response.setHeader("content-length", 100);
      response.write("half", () => response.destroy());
    });
    await expect(fetchTo(`http://${host}/`)).rejects.toThrow(/cannot be downloaded/);
    expect(await left()).toEqual([]);
  });

  it("a server that falls silent is given up", async () => {
    const host = await serve((_request, response) => void response.write("half"));
    let settled = false;
    const failed = expect(fetchTo(`http://${host}/`).finally(() => (settled = true))).rejects.toThrow(
      /fell silent/,
    );
    // Whenever it begins to wait.
    await expect
      .poll(async () => {
        await clock.advance(60_000);
        return settled;
      })
      .toBe(true);
    await failed;
    expect(await left()).toEqual([]);
  });

  it("ends when the task is cancelled", async () => {
    const host = await serve((_request, response) => void response.write("half"));
    const controller = new AbortController();
    const failed = expect(fetchTo(`http://${host}/`, 1 << 20, controller.signal)).rejects.toThrow("stop");
    await expect.poll(() => left().then((names) => names.length)).toBe(1);
    controller.abort(new Error("stop"));
    await failed;
    expect(await left()).toEqual([]);
  });

  it("never overwrites a file", async () => {
    await writeFile(join(root, "got"), "mine");
    const host = await serve((_request, response) => response.end("bits"));
    await expect(fetchTo(`http://${host}/`)).rejects.toThrow(/EEXIST/);
    expect(await readFile(join(root, "got"), "utf8")).toBe("mine");
  });
});
