import { systemClock } from "@slipway/kernel/clock";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { homeOf } from "../../home/home.ts";
import { leftRunning } from "../../up/stop.ts";
import type { Backend, BackendTools } from "../descriptor.ts";
import { dockerBackend } from "./backend.ts";
import type { DockerChoice } from "./descriptor.ts";
import { FakeEngine } from "./testing/fake-engine.ts";

const VOLUME = "slipway-disks-0123abcd";
const home = homeOf({ SLIPWAY_HOME: "/nowhere" }, 1);
const withGateway = (Gateway: string) => ({ "/networks/bridge": { IPAM: { Config: [{ Gateway }] } } });

let engine: FakeEngine;
beforeEach(async () => {
  engine = await FakeEngine.open({ "/containers/json": [] });
});
afterEach(() => engine.close());

function backend(more: Partial<DockerChoice> = {}): Backend {
  const choice = { cpi: "docker", host: engine.host, engine: "E", volume: VOLUME, director: "D" } as const;
  return dockerBackend({ ...choice, ...more }, { home, clock: systemClock } as BackendTools);
}

describe("the registry of old stemcells", () => {
  it("listens where containers reach this machine", async () => {
    engine.answers = withGateway("127.0.0.1");
    const config = { name: "d", registry: { port: 5 } };
    expect(await backend().configure(config)).toEqual({
      name: "d",
      registry: { port: 5, host: "127.0.0.1" },
    });
  });

  it("does so also where a new engine says of its bridge only the subnet", async () => {
    engine.answers = { "/networks/bridge": { IPAM: { Config: [{ Subnet: "127.0.0.0/16" }] } } };
    expect(await backend().configure({})).toEqual({ registry: { host: "127.0.0.1" } });
  });

  it("stays where it is when the bridge ends elsewhere, or there is none", async () => {
    engine.answers = withGateway("192.0.2.77");
    expect(await backend().configure({})).toEqual({});
    engine.answers = {};
    expect(await backend().configure({})).toEqual({});
  });

  it("stays where a configuration puts it", async () => {
    engine.answers = withGateway("127.0.0.1");
    const config = { registry: { host: "192.0.2.9" } };
    expect(await backend().configure(config)).toEqual(config);
  });
});

describe("a NATS server of this machine", () => {
  const nats = { server: { host: "127.0.0.1", port: 6 }, blobs: { host: "127.0.0.1", port: 7 } };
  const config = { agent: { transport: "nats" as const }, registry: { host: "192.0.2.9" }, nats };

  it("listens where containers reach it, with its blobs", async () => {
    engine.answers = withGateway("127.0.0.9");
    expect(await backend().configure(config)).toEqual({
      ...config,
      nats: { server: { host: "127.0.0.9", port: 6 }, blobs: { host: "127.0.0.9", port: 7 } },
    });
  });

  it("is refused where no such address is known, unless new VMs do not need it", async () => {
    engine.answers = withGateway("192.0.2.77");
    await expect(backend().configure(config)).rejects.toThrow(/containers of this Docker Engine/);
    const https = { ...config, agent: { transport: "https" as const } };
    expect(await backend().configure(https)).toEqual(https);
  });

  it("stays where a configuration puts it", async () => {
    engine.answers = withGateway("127.0.0.9");
    const given = { ...config, nats: { ...nats, urls: ["nats://192.0.2.9:6"] } };
    expect(await backend().configure(given)).toEqual(given);
  });
});

describe("what an engine has of a home", () => {
  it("containers of its Director, those that run and others", async () => {
    const vm = (cid: string, State: string, director = "D") => ({
      ...{ Id: cid, State },
      Labels: { "slipway.cid": cid, "slipway.kind": "vm", "slipway.director": director },
    });
    const all = [vm("vm-1", "running"), vm("vm-2", "exited"), vm("vm-3", "running", "another's")];
    engine.answers = { "/containers/json": all };
    const seen = await backend().look();
    expect(seen.vms).toEqual([
      { cid: "vm-1", running: true },
      { cid: "vm-2", running: false },
    ]);
    expect(leftRunning(backend(), seen)).toEqual([`1 container runs on, at ${engine.host}.`]);
  });

  it("no volume is no disk; a volume without its disk helper may have disks", async () => {
    expect(await backend().look()).toEqual({ vms: [], disks: 0 });
    engine.answers = { ...engine.answers, [`/volumes/${VOLUME}`]: { Name: VOLUME } };
    expect(await backend().look()).toEqual({ vms: [], disks: undefined });
  });

  it("an engine that is not there is said, and is no failure", async () => {
    const there = backend({ host: "unix:///nowhere/sock" });
    const seen = await there.look();
    expect(seen).toMatchObject({
      vms: [],
      disks: undefined,
      trouble: expect.stringContaining("no such socket"),
    });
    expect(leftRunning(there, seen)).toEqual([expect.stringContaining("not known")]);
  });
});
