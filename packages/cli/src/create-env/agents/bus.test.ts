import type { Networks } from "@slipway/protocol/settings/networks";
import { describe, expect, it } from "vitest";
import type { CloudProvider } from "../manifest/model.ts";
import { agentEnvFor, busOf, envWithBus, madeWith } from "./bus.ts";

const NETWORKS: Networks = { default: { type: "manual", ip: "10.0.0.6" } };
const MBUS = "https://mbus:pw@10.0.0.6:6868";

const provider = (more: Partial<CloudProvider> = {}): CloudProvider => ({
  cpi: { kind: "package", name: "local" },
  properties: {},
  mbus: new URL(MBUS),
  cert: undefined,
  registry: { host: undefined, sshTunnel: false },
  ...more,
});

const envOf = (given: CloudProvider, env: object, networks = NETWORKS) =>
  envWithBus(busOf(given, env as never), given, env as never, networks);

describe("how the agent is reached", () => {
  it("is ours to decide when the manifest does not say", () => {
    const given = provider({ mbus: undefined });
    expect(busOf(given, {})).toEqual({ kind: "own" });
    expect(envOf(given, { bosh: { password: "*" } })).toEqual({ bosh: { password: "*" } });
  });

  it("is by certificates of the manifest where it has them, in either place", () => {
    expect(busOf(provider({ cert: { ca: "CA" } }), {})).toMatchObject({ kind: "manifest", ca: "CA" });
    expect(busOf(provider(), { bosh: { mbus: { cert: { ca: "CA2" } } } })).toMatchObject({ ca: "CA2" });
    expect(busOf(provider(), {})).toMatchObject({ kind: "password" });
  });

  it("gives the VM the pair of cloud_provider.cert when its env has none, and never another one", () => {
    const cert = { ca: "CA", certificate: "C", private_key: "K" };
    expect(envOf(provider({ cert }), {})).toEqual({ bosh: { mbus: { cert, urls: [MBUS] } } });
    const own = { bosh: { mbus: { cert: { ca: "CA", certificate: "own", private_key: "own" } } } };
    expect(envOf(provider({ cert }), own)).toEqual({ bosh: { mbus: { ...own.bosh.mbus, urls: [MBUS] } } });
    expect(envOf(provider({ cert: { ca: "CA" } }), {})).toEqual({ bosh: { mbus: { urls: [MBUS] } } });
  });

  it("leaves alone what the manifest says about where the agent listens", () => {
    const urls = ["https://mbus:pw@0.0.0.0:6868"];
    expect(envOf(provider(), { bosh: { mbus: { urls } } })).toEqual({ bosh: { mbus: { urls } } });
    const properties = { agent: { mbus: "https://mbus:pw@0.0.0.0:6868" } };
    expect(envOf(provider({ properties }), {})).toEqual({ bosh: { mbus: {} } });
  });

  it("lets the agent listen everywhere when it is called by an address that is not its own", () => {
    const elsewhere: Networks = { default: { type: "manual", ip: "192.168.0.2" } };
    expect(envOf(provider(), {}, elsewhere)).toEqual({
      bosh: { mbus: { urls: ["https://mbus:pw@0.0.0.0:6868"] } },
    });
  });

  it("is remembered with the VM: address of its record, password and authority of its env", () => {
    const made = madeWith({
      env: { bosh: { mbus: { urls: ["https://mbus:old@0.0.0.0:6868"], cert: { ca: "OLD" } } } },
      agentUrl: "https://10.0.0.6:6868",
    });
    expect(made?.url.href).toBe("https://mbus:old@10.0.0.6:6868/");
    expect(made?.ca).toBe("OLD");
    expect(madeWith({ env: {}, agentUrl: "https://10.0.0.6:6868" })).toBeUndefined();
  });
});

describe("where the agent keeps blobs", () => {
  const local = (path: string) => ({
    blobstores: [{ provider: "local", options: { blobstore_path: path } }],
  });
  const BESIDE = local("/var/vcap/micro_bosh/data/cache");
  const dav = { provider: "dav", options: { endpoint: "http://b" } };

  it.each([
    ["beside it, unless the manifest says something else", {}, BESIDE],
    ["beside it, where the manifest names no place", { blobstore: { provider: "local" } }, BESIDE],
    ["where the manifest says", { blobstore: { provider: "local", path: "/b" } }, local("/b")],
    ["where the CPI was to tell it", { agent: { blobstore: dav } }, { blobstores: [dav] }],
    ["where the job of the CPI tells it", { blobstore: { provider: "dav", address: "b" } }, {}],
  ])("is %s", (_, properties, expected) => {
    expect(agentEnvFor(provider({ properties }))).toEqual(expected);
  });
});
