import { describe, expect, it } from "vitest";
import { planNetworks } from "./plan.ts";

const network = (ip: string, more: object = {}) =>
  ({ type: "manual", ip, netmask: "255.255.255.0", gateway: ip.replace(/\d+$/, "1"), ...more }) as const;

describe("the plan of a VM's networks", () => {
  it("has the default gateway's first, whatever the order, and says it only where the engine could choose wrongly", () => {
    const a = network("10.0.0.5");
    const b = network("10.1.0.5", { default: ["gateway"] });
    for (const networks of [
      { a, b },
      { b, a },
    ]) {
      const plan = planNetworks(networks);
      expect(plan.requests.map((request) => request.network)).toEqual(["b", "a"]);
      expect(plan.gateway).toBe("10.1.0.1");
    }
    expect(planNetworks({ b }).gateway).toBeUndefined();
  });

  it("leaves a vip alone, and tells the agent that the rest is configured", () => {
    const vip = { type: "vip", ip: "203.0.113.7" } as const;
    const plan = planNetworks({ a: network("10.0.0.5"), vip });
    expect(plan.requests.map((request) => request.network)).toEqual(["a"]);
    expect(plan.networks).toEqual({ a: { ...network("10.0.0.5"), preconfigured: true }, vip });
  });

  it("takes the name servers of the network that is the default for them, or all", () => {
    const a = network("10.0.0.5", { dns: ["10.0.0.2"] });
    const b = network("10.1.0.5", { dns: ["10.1.0.2", "10.0.0.2"] });
    expect(planNetworks({ a, b }).dns).toEqual(["10.0.0.2", "10.1.0.2"]);
    expect(planNetworks({ a, b: { ...b, default: ["dns"] } }).dns).toEqual(["10.1.0.2", "10.0.0.2"]);
  });

  it("asks for no address in a dynamic network, and refuses a manual one without", () => {
    expect(planNetworks({ d: { type: "dynamic", ip: "1.2.3.4" } }).requests[0]?.ip).toBeUndefined();
    expect(() => planNetworks({ m: { type: "manual" } })).toThrow(/needs an address/);
    expect(() => planNetworks({ m: network("10.0.0.5", { gateway: "x; reboot" }) })).toThrow(
      /gateway is no address/,
    );
  });
});
