import type { JsonObject } from "@slipway/protocol/schema/json";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Features } from "../../manifest/model.ts";
import type { DnsSettings, JobsInput } from "../model.ts";
import { instance, plannedJobs } from "../testing/builders.ts";
import { sketch } from "../testing/links.ts";
import { dnsName } from "./encoder.ts";
import { type DnsIds, groupKey } from "./ids.ts";
import { dnsRecords } from "./records.ts";

const group = (type: "instance-group" | "link", name: string, deployment = "shop") =>
  ({ type, name, deployment }) as const;

const IDS: DnsIds = {
  azs: new Map([
    ["z1", 1],
    ["z2", 2],
  ]),
  networks: new Map([["private", 7]]),
  groups: new Map([
    [groupKey(group("instance-group", "db")), 4],
    [groupKey(group("instance-group", "web")), 5],
    [groupKey(group("link", "db-sql")), 9],
  ]),
  instances: new Map([
    ["db-0", 21],
    ["web-0", 22],
  ]),
};
const DNS: DnsSettings = { enabled: true, domain: "bosh", useDnsAddresses: false, ids: IDS };

function planned(features: Partial<Features>, dns: DnsSettings = DNS, consumes: JsonObject = {}) {
  const given = sketch({ consumes });
  const manifest = { ...given.manifest, features: { randomizeAzPlacement: false, ...features } };
  return plannedJobs({ ...given, manifest, dns } satisfies Omit<JobsInput, "director">);
}

/** The address of the instance itself, and the one that its link has. */
function addresses(...given: Parameters<typeof planned>) {
  const { instances } = planned(...given);
  const [web] = instances.get(instance("web", 0).uuid) ?? [];
  const links = web?.context.links as { readonly db: { readonly instances: readonly JsonObject[] } };
  return [web?.context.address, links.db.instances[0]?.address];
}

describe("addresses", () => {
  it("are IPs, unless the deployment or the Director wants names", () => {
    expect(addresses({})).toEqual(["10.0.0.5", "10.0.0.5"]);
    const names = ["web-0.web.private.shop.bosh", "db-0.db.private.shop.bosh"];
    expect(addresses({ useDnsAddresses: true })).toEqual(names);
    expect(addresses({}, { ...DNS, useDnsAddresses: true })).toEqual(names);
    expect(addresses({ useDnsAddresses: false }, { ...DNS, useDnsAddresses: true })[0]).toBe("10.0.0.5");
  });

  it("are IPs where the Director has no DNS, whatever the deployment wants", () =>
    expect(addresses({ useDnsAddresses: true }, { ...DNS, enabled: false })).toEqual([
      "10.0.0.5",
      "10.0.0.5",
    ]));

  it("are short where the deployment wants them short", () =>
    expect(addresses({ useDnsAddresses: true, useShortDnsAddresses: true })).toEqual([
      "q-m22n7s0.q-g5.bosh",
      "q-m21n7s0.q-g4.bosh",
    ]));

  it("addresses of links use the link's group if the deployment wants link names", () =>
    expect(addresses({ useDnsAddresses: true, useShortDnsAddresses: true, useLinkDnsNames: true })).toEqual([
      "q-m22n7s0.q-g5.bosh",
      "q-m21n7s0.q-g9.bosh",
    ]));

  it("addresses of links follow the consumer's ip_addresses", () => {
    const asks = (ip: boolean) => ({ db: { ip_addresses: ip } });
    expect(addresses({ useDnsAddresses: true }, DNS, asks(true))[1]).toBe("10.0.0.5");
    expect(addresses({}, DNS, asks(false))[1]).toBe("db-0.db.private.shop.bosh");
  });

  it("notes a link address that is wanted as a name and has none", () =>
    expect(planned({ useDnsAddresses: true }, { ...DNS, enabled: false }).notes).toEqual([
      "DNS address not available for the link provider instance: db/db-0",
    ]));
});

describe("a job", () => {
  it("gets the numbers of its links, by which templates make queries", () => {
    const { instances } = planned({ useLinkDnsNames: true });
    const [web] = instances.get(instance("web", 0).uuid) ?? [];
    expect(web?.context.links).toMatchObject({
      db: { group_id: "9", network_id: "7", az_ids: { z1: "1", z2: "2" } },
    });
  });

  it("knows the DNS groups of the links it provides", () => {
    const [db] = planned({}).instances.get(instance("db", 0).uuid) ?? [];
    expect(db?.provides).toEqual([{ name: "db", type: "sql", group: "9" }]);
  });
});

describe("a DNS name", () => {
  const query = { group: group("instance-group", "db"), network: "private", domain: "bosh" };

  it("the name of a whole group asks for all its instances", () => {
    expect(dnsName(query, IDS, false)).toBe("q-s0.db.private.shop.bosh");
    expect(dnsName(query, IDS, true)).toBe("q-n7s0.q-g4.bosh");
  });

  it("says zones, health and checks by letters in the order of the alphabet", () => {
    const asked = { ...query, azs: ["z2", "z1"], status: "healthy", initialHealthCheck: "synchronous" };
    expect(dnsName(asked, IDS, false)).toBe("q-a1a2s3y1.db.private.shop.bosh");
    expect(dnsName(asked, IDS, true)).toBe("q-a1a2n7s3y1.q-g4.bosh");
  });

  it("rejects a zone that has no number", () =>
    expect(() => dnsName({ ...query, azs: ["z9"] }, IDS, true)).toThrow("Unknown AZ: 'z9'"));

  it("has only letters, digits and hyphens between its dots, whatever things are called", () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), fc.string(), (name, network, deployment) => {
        const made = dnsName(
          { group: { type: "instance-group", name, deployment }, network, domain: "bosh" },
          IDS,
          false,
        );
        expect(made).toMatch(/^q-s0\.[a-z0-9-]*\.[a-z0-9-]*\.[a-z0-9-]*\.bosh$/);
      }),
    );
  });
});

describe("the DNS records", () => {
  const one = {
    deployment: "shop",
    group: "db",
    uuid: "db-0",
    index: 0,
    az: "z1",
    agentId: "agent",
    addresses: [{ network: "private", ip: "10.0.0.5" }],
  };
  const provider = {
    deployment: "shop",
    group: "db",
    name: "db",
    type: "sql",
    aliases: [{ domain: "db.internal", health_filter: "healthy" }],
  };
  const input = {
    version: 42,
    domain: "bosh",
    includeIndex: false,
    instances: [one],
    providers: [provider],
    ids: IDS,
  };

  it("name each instance on each network, with all numbers as text, and the aliases", () => {
    expect(JSON.stringify(dnsRecords(input))).toBe(
      '{"records":[["10.0.0.5","db-0.db.private.shop.bosh"]],"version":42,' +
        '"record_keys":["id","num_id","instance_group","group_ids","az","az_id","network","network_id","deployment","ip","domain","agent_id","instance_index"],' +
        '"record_infos":[["db-0","21","db",["4","9"],"z1","1","private","7","shop","10.0.0.5","bosh","agent",0]],' +
        '"aliases":{"db.internal":[{"root_domain":"bosh","group_id":"9","health_filter":"healthy","initial_health_check":null,"placeholder_type":null}]}}',
    );
  });

  it("name instances by index too where the Director is set so", () =>
    expect(dnsRecords({ ...input, includeIndex: true }).records).toEqual([
      ["10.0.0.5", "db-0.db.private.shop.bosh"],
      ["10.0.0.5", "0.db.private.shop.bosh"],
    ]));

  it("have neither a zone nor its number for an instance without one", () =>
    expect(dnsRecords({ ...input, instances: [{ ...one, az: null }] }).record_infos).toMatchObject([
      ["db-0", "21", "db", ["4", "9"], null, null, "private", "7", "shop", "10.0.0.5", "bosh", "agent", 0],
    ]));

  it("gives a group without links only its own number, and ignores links of other deployments", () =>
    expect(dnsRecords({ ...input, providers: [{ ...provider, deployment: "other" }] }).record_infos).toEqual([
      expect.arrayContaining(["db-0", ["4"]]),
    ]));
});
