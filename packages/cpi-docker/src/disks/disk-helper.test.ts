import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type IncomingMessage } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { embed } from "@slipway/cpi-sdk/embed";
import { expect, it, onTestFinished } from "vitest";
import { cpiDocker } from "../cpi-docker.ts";

/** An engine that refuses to make containers with capabilities that it does not have itself. */
async function restrictedEngine(lacks: readonly string[]) {
  const dir = await mkdtemp(join(tmpdir(), "slipway-fake-engine-"));
  const asked: (readonly string[])[] = [];
  const answer = async (request: IncomingMessage): Promise<readonly [number, object]> => {
    const path = (request.url ?? "").replace(/^\/v[\d.]+/, "").replace(/\?.*/, "");
    const body = await text(request);
    if (path === "/_ping") return [200, {}];
    if (path === "/info") return [200, { NCPU: 2, MemTotal: 1, SecurityOptions: [] }];
    if (path.startsWith("/images/") && request.method === "GET")
      return [200, { Id: "sha256:0123456789abcdef" }];
    if (path === "/volumes/create") return [201, { Name: "slipway-disks" }];
    if (path === "/containers/create") {
      const { HostConfig } = JSON.parse(body) as { HostConfig: { CapAdd: readonly string[] } };
      asked.push(HostConfig.CapAdd);
      const lacking = HostConfig.CapAdd.find((capability) => lacks.includes(capability));
      const message = `capability not supported by your kernel or not available in the current environment: "CAP_${lacking}"`;
      return lacking === undefined ? [500, { message: "it is made" }] : [400, { message }];
    }
    return request.method === "GET" ? [404, { message: "no such thing" }] : [200, {}];
  };
  const server = createServer((request, response) => {
    void answer(request).then(([status, body]) => {
      response.writeHead(status, { "api-version": "1.48", "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  const socket = join(dir, "engine.sock");
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    server.close();
    await rm(dir, { recursive: true, force: true });
  });
  const config = { docker: { dir, host: `unix://${socket}`, keeper_image: "helper" } };
  const cpi = embed(cpiDocker, { config });
  const createDisk = async () => {
    const context = { director_uuid: "d", request_id: "cpi-1" };
    const request = { method: "create_disk", arguments: [8, {}, null], context, api_version: 2 };
    return (await cpi.request(request)).error?.message ?? "";
  };
  return { createDisk, asked };
}

it("asks for the disk helper again without SYS_RESOURCE when the engine refuses to give it", async () => {
  const { createDisk, asked } = await restrictedEngine(["SYS_RESOURCE"]);
  expect(await createDisk()).toContain("it is made");
  expect(asked).toEqual([["SYS_ADMIN", "SYS_RESOURCE"], ["SYS_ADMIN"]]);
});

it("names the capability that disks need when the engine refuses that one", async () => {
  const { createDisk } = await restrictedEngine(["SYS_ADMIN", "SYS_RESOURCE"]);
  expect(await createDisk()).toMatch(/DOC-014.*CAP_SYS_ADMIN.*may give the capability SYS_ADMIN/s);
});
