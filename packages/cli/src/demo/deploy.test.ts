import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { createServer } from "node:net";
import { systemClock } from "@slipway/kernel/clock";
import { addressOctet } from "@slipway/testkit/address-octet";
import { describe, expect, it, onTestFinished } from "vitest";
import { parse } from "yaml";
import { localStage } from "../cpis/local/demo-setup.ts";
import { cpiNamed } from "../cpis/table.ts";
import { firstFree, rangeOf } from "./deploy.ts";
import { cloudConfig, isOurs, manifestOf } from "./documents.ts";
import { BadRange } from "./errors.ts";

const example = await readFile(
  new URL("../../../../examples/counter-release/manifest.yml", import.meta.url),
  "utf8",
);

describe("the addresses of the demo", () => {
  it.each([
    ["local", "127.20.0.0/24"],
    ["local", "127.255.255.0/24"],
    ["docker", "10.245.77.0/24"],
    ["docker", "172.31.0.0/24"],
    ["docker", "192.168.9.0/24"],
  ] as const)("%s: %s can be had", (cpi, range) => {
    expect(rangeOf(range, cpiNamed(cpi))).toBe(range);
    const [network] = parse(cloudConfig(range, "whose")).networks;
    expect(network.subnets[0]).toMatchObject({ range, gateway: range.replace("0/24", "1") });
  });

  it.each([
    ["local", "10.0.0.0/24"],
    ["local", "127.20.0.0/16"],
    ["local", "127.256.0.0/24"],
    ["local", "127.20.0.1/24"],
    ["local", "127.20.0.0/24 "],
    ["local", ""],
    ["docker", "127.20.0.0/24"],
    ["docker", "172.32.0.0/24"],
    ["docker", "192.169.0.0/24"],
    ["docker", "8.8.8.0/24"],
    ["docker", "10.1.2.0/23"],
    ["docker", "10.01.2.0/24"],
  ] as const)("%s: '%s' are refused", (cpi, range) => {
    expect(() => rangeOf(range, cpiNamed(cpi))).toThrow(expect.toSatisfy(BadRange.is));
  });
});

it("the demo takes the first range whose address nobody listens on, and names the first one if all are taken", async () => {
  const stage = localStage({ clock: systemClock, programs: {} as never });
  const ranges = [1, 2].map((part) => `127.${140 + part}.${addressOctet()}.0/24`) as [string, string];
  const listen = async (range: string) => {
    const server = createServer().listen(6868, range.replace("0/24", "2"));
    onTestFinished(() => void server.close());
    await once(server, "listening");
  };
  const { taken } = stage;
  expect(await firstFree({ ranges, taken })).toBe(ranges[0]);
  await listen(ranges[0]);
  expect(await firstFree({ ranges, taken })).toBe(ranges[1]);
  await listen(ranges[1]);
  await expect(firstFree({ ranges, taken })).rejects.toThrow(ranges[0].replace("0/24", "2"));
});

it("the demo recognizes its own documents, and no others", () => {
  for (const text of [
    manifestOf(example, { name: "a", version: "1" }),
    cloudConfig("127.20.0.0/24", "whose"),
  ]) {
    expect(isOurs(text)).toBe(true);
    expect(isOurs(`# mine\n${text}`)).toBe(false);
  }
});

it("the manifest is the example's, with the stemcell that was made sure of, whatever its name", () => {
  const stemcell = { name: "a: #b $&", version: "1+0e5" };
  expect(parse(manifestOf(example, stemcell))).toEqual({
    ...parse(example),
    name: "demo",
    stemcells: [{ alias: "default", ...stemcell }],
  });
});
