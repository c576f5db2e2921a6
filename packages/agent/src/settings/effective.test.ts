import type { AgentSettings, UpdateSettings } from "@slipway/protocol/settings/agent-settings";
import { describe, expect, it } from "vitest";
import {
  blobstoreSettings,
  ephemeralHint,
  keepsSettingsInMemory,
  mbusCredentials,
  mbusUrls,
  memoryRequest,
  ntpServers,
  passwordHash,
} from "./effective.ts";
import { mergeUpdates, updatesDocument } from "./merge-updates.ts";

const settings = (more: object) => ({ agent_id: "a", ...more }) as AgentSettings;
const updates = (more: object) => more as UpdateSettings;
const cert = (name: string) => ({
  ca: `ca-${name}`,
  certificate: `cert-${name}`,
  private_key: `key-${name}`,
});

describe("of several places that name the same thing", () => {
  const all = settings({
    mbus: "https://settings",
    ntp: ["settings"],
    blobstore: { provider: "settings" },
    env: {
      bosh: {
        mbus: { urls: ["nats://env"], cert: cert("env") },
        blobstores: [{ provider: "env" }],
        ntp: ["env"],
      },
    },
  });
  const bare = settings({ mbus: "https://settings", ntp: ["settings"], blobstore: { provider: "settings" } });
  const pushed = updates({
    mbus: { urls: ["nats://pushed"], cert: cert("pushed") },
    blobstores: [{ provider: "pushed" }],
  });

  it("update_settings comes before env, and env before the rest", () => {
    expect(mbusUrls(all, pushed)).toEqual(["nats://pushed"]);
    expect(mbusUrls(all, {})).toEqual(["nats://env"]);
    expect(mbusUrls(bare, {})).toEqual(["https://settings"]);
    expect(mbusUrls(settings({ mbus: "" }), {})).toEqual([]);
    expect(blobstoreSettings(all, pushed)?.provider).toBe("pushed");
    expect(blobstoreSettings(all, {})?.provider).toBe("env");
    expect(blobstoreSettings(bare, {})?.provider).toBe("settings");
    expect(mbusCredentials(all, pushed).certificate).toBe("cert-pushed");
  });

  it("a pushed certificate without its authority does not count", () => {
    const half = updates({ mbus: { cert: { ...cert("pushed"), ca: "" } } });
    expect(mbusCredentials(all, half).certificate).toBe("cert-env");
  });

  it("time servers of env count also when they are none", () => {
    expect(ntpServers(all)).toEqual(["env"]);
    expect(ntpServers(settings({ ntp: ["x"], env: { bosh: { ntp: [] } } }))).toEqual([]);
    expect(ntpServers(bare)).toEqual(["settings"]);
  });

  it("nothing said is nothing: no password, no ephemeral disk, no tmpfs", () => {
    expect(passwordHash(settings({}))).toBe("*");
    expect(ephemeralHint(settings({ disks: { ephemeral: "" } }))).toBeUndefined();
    expect(ephemeralHint(settings({ disks: { ephemeral: { path: "/dev/sdb" } } }))?.kind).toBe("path");
    expect(keepsSettingsInMemory(settings({ env: { bosh: { agent: null } } }))).toBe(false);
    expect(keepsSettingsInMemory(settings({ env: { bosh: { agent: { settings: { tmpfs: true } } } } }))).toBe(
      true,
    );
  });

  it("memory is asked for by jobs, run directories and settings, each for itself", () => {
    const request = (bosh: object) => memoryRequest(settings({ env: { bosh } }));
    const nothing = { runSize: undefined, jobs: false, jobsSize: undefined, settings: false };
    expect(request({})).toEqual(nothing);
    expect(request({ job_dir: null, run_dir: null, agent: null })).toEqual(nothing);
    expect(request({ job_dir: { tmpfs: true, tmpfs_size: "9m" } })).toEqual({
      ...nothing,
      jobs: true,
      jobsSize: "9m",
    });
    expect(request({ run_dir: { tmpfs_size: "3m" }, agent: { settings: { tmpfs: true } } })).toEqual({
      ...nothing,
      runSize: "3m",
      settings: true,
    });
  });

  it("what is pushed replaces certificates and associations always, bus and blobstores only when given", () => {
    const first = mergeUpdates(
      all,
      {},
      { ...pushed, trusted_certs: "PEM", disk_associations: [{ name: "d", cid: "c" }] },
    );
    expect(first.restart).toBe(true);
    const second = mergeUpdates(all, first.updates, {
      mbus: { urls: null, cert: { private_key: "" } },
      blobstores: [],
    });
    expect(second.restart).toBe(false);
    expect(second.updates).toEqual({ ...pushed, trusted_certs: "", disk_associations: [] });
  });

  it("what is pushed and in use already restarts nothing", () => {
    expect(mergeUpdates(all, {}, updates({ mbus: { cert: cert("env") } })).restart).toBe(false);
    expect(mergeUpdates(all, pushed, pushed).restart).toBe(false);
    expect(
      mergeUpdates(all, {}, updates({ blobstores: [{ provider: "env", options: { a: 1 } }] })).restart,
    ).toBe(true);
  });

  it("the file has every key, as upstream's agent writes it", () => {
    expect(updatesDocument({})).toEqual({
      blobstores: null,
      disk_associations: [],
      mbus: { cert: { ca: "", private_key: "", certificate: "" }, urls: null },
      trusted_certs: "",
    });
  });
});
