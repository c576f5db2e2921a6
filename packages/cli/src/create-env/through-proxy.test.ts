import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { socksServer } from "@slipway/testkit/socks-server";
import { expect, it, onTestFinished } from "vitest";
import { EnvLab } from "./testing/env-lab.ts";
import { builtPrograms } from "./testing/programs.ts";

const programs = builtPrograms();

it("create-env fetches and asks through BOSH_ALL_PROXY, and makes nothing when that is away", async () => {
  const lab = await EnvLab.open(programs());
  await lab.stemcell();
  const archive = await readFile(join(lab.dir, "stemcell.tgz"));
  const server = createServer((_, response) => response.end(archive)).listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await expect.poll(() => server.listening).toBe(true);
  const proxy = await socksServer({ names: { "stemcells.inside": (server.address() as AddressInfo).port } });
  onTestFinished(() => proxy.close());
  const manifest = lab.manifest({ provider: await lab.executable(), disk: null });
  const [pool] = manifest.resource_pools as { stemcell: object }[];
  const sha1 = createHash("sha1").update(archive).digest("hex");
  if (pool !== undefined) pool.stemcell = { url: "http://stemcells.inside/s.tgz", sha1 };

  const gone = await socksServer();
  await gone.close();
  lab.env.BOSH_ALL_PROXY = gone.url;
  await expect(lab.create(lab.manifest({ provider: await lab.executable() }))).rejects.toMatchObject({
    code: "CLI-052",
    message: expect.stringContaining(`the proxy 127.0.0.1:${gone.port} does not listen`),
  });
  expect(await lab.vms()).toEqual([]);

  lab.env.BOSH_ALL_PROXY = proxy.url;
  await lab.create(manifest);
  expect(proxy.seen).toContain("stemcells.inside:80");
  expect(proxy.seen).toContain(`${lab.ip}:6868`);
  // A sandbox of the CPI in this process is on this machine, whatever the proxy.
  await lab.delete(manifest);
  lab.env.BOSH_ALL_PROXY = gone.url;
  await lab.create(lab.manifest());
  await lab.delete(lab.manifest());
});
