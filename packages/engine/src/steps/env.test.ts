import type { JsonObject } from "@slipway/protocol/schema/json";
import { describe, expect, it } from "vitest";
import { agentEnvOf, createVmEnv, groupNames } from "./env.ts";

const NAMES = ["My Director", "shop_prod", "web"];

describe("the env of all agents", () => {
  const local = [{ provider: "local", options: { blobstore_path: "/var/vcap/micro_bosh/data/cache" } }];

  it("names the blobs beside them, whatever else is configured", () => {
    expect(agentEnvOf()).toEqual({ blobstores: local });
    expect(agentEnvOf({ ntp: ["n"] })).toEqual({ blobstores: local, ntp: ["n"] });
    for (const blobstores of [null, []]) expect(agentEnvOf({ blobstores })).toEqual({ blobstores: local });
  });

  it("names the blobstores that are configured, and no other", () => {
    const blobstores = [{ provider: "dav", options: { endpoint: "http://b" } }];
    expect(agentEnvOf({ blobstores })).toEqual({ blobstores });
  });
});

describe("the env of a new VM", () => {
  it("names its groups as a cloud's tags may be named", () => {
    expect(groupNames(NAMES)).toEqual({
      group: "mydirector-shop-prod-web",
      groups: [
        "mydirector",
        "shop-prod",
        "web",
        "mydirector-shop-prod",
        "shop-prod-web",
        "mydirector-shop-prod-web",
      ],
    });
  });

  it("has the group's own over the Director's, and what only the Director can say over both", () => {
    const env = createVmEnv(
      {
        env: { bosh: { password: "group", group: "stolen", mbus: { cert: "stolen" } }, other: 1 },
        tags: {},
        names: NAMES,
      },
      { mbus: { cert: "issued" } },
      { password: "director", ntp: ["n"] },
    );
    expect(env).toMatchObject({
      other: 1,
      bosh: { password: "group", ntp: ["n"], mbus: { cert: "issued" }, group: "mydirector-shop-prod-web" },
    });
  });

  it("always names blobstores: of the way to the agent, of its group, or of all agents", () => {
    const named = (name: string) => ({ blobstores: [{ provider: name }] });
    const of = (group: JsonObject, introduction: JsonObject) =>
      createVmEnv({ env: { bosh: group }, tags: {}, names: NAMES }, introduction, named("all"));
    expect(of({}, {})).toMatchObject({ bosh: named("all") });
    expect(of(named("group"), {})).toMatchObject({ bosh: named("group") });
    expect(of(named("group"), named("way"))).toMatchObject({ bosh: named("way") });
    for (const blobstores of [null, []]) expect(of({ blobstores }, {})).toMatchObject({ bosh: named("all") });
  });

  it("has the deployment's tags over those of its env", () => {
    const env = createVmEnv(
      { env: { bosh: { tags: { a: "env", b: "env" } } }, tags: { b: "deployment" }, names: NAMES },
      {},
      {},
    );
    expect(env).toMatchObject({ bosh: { tags: { a: "env", b: "deployment" } } });
  });

  it.each([[null], ["text"], [[1]]])("takes a bosh part that is %j for none", (bosh) => {
    const env = createVmEnv({ env: { bosh }, tags: {}, names: NAMES }, { mbus: {} }, {});
    expect(Object.keys(env.bosh as object).sort()).toEqual(["group", "groups", "mbus", "tags"]);
  });
});
