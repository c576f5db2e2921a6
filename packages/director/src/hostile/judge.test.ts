import { expect, it } from "vitest";
import { answeredMeanwhile, attack } from "./testing/judge.ts";
import type { Target } from "./testing/target.ts";

const SENT = { method: "GET", path: "/x" };

const target = (change: Partial<Target> = {}): Target => ({
  log: () => "",
  alive: () => true,
  send: () => Promise.resolve({ status: 400, body: "" }),
  cpiSays: () => Promise.resolve(),
  everything: () => Promise.resolve(""),
  stop: () => Promise.resolve(),
  ...change,
});

it("a Director that refuses is fine", async () => expect(await attack(target(), SENT)).toBe(400));

it.each<[string, Partial<Target>]>([
  ["answers 500", { send: () => Promise.resolve({ status: 500, body: "" }) }],
  ["answers 503", { send: () => Promise.resolve({ status: 503, body: "" }) }],
  ["is gone", { alive: () => false }],
  ["answers nobody any more", { send: () => Promise.resolve({ status: 0, body: "" }) }],
])("a planted Director that %s is noticed", async (_, fault) => {
  await expect(attack(target(fault), SENT)).rejects.toThrow(/GET/);
});

it("a Director that cuts off only its attackers is fine", async () => {
  const send: Target["send"] = async ({ path }) => ({ status: path === "/info" ? 200 : 0, body: "" });
  expect(await attack(target({ send }), SENT)).toBe(0);
});

it("a planted Director that answers only after its work has answered a single request", async () => {
  let finish = () => {};
  const work = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const stuck = target({
    send: async () => {
      finish();
      await work;
      return { status: 200, body: "" };
    },
  });
  expect(await answeredMeanwhile(stuck, work)).toHaveLength(1);
});
