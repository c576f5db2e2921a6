import { describe, expect, it } from "vitest";
import { asTyped } from "./as-typed.ts";

const TEXT = "Choose another port with `slipway up --port N`, or `slipway down` first.";
const self = ["node", "/clone/packages/cli/dist/slipway.cjs"];

describe("what to type next, for the one who typed", () => {
  it("names npm start in advice after npm start", () => {
    const env = { PATH: "/nowhere", SLIPWAY_BY_NPM: "start" };
    expect(asTyped(TEXT, { self, env, command: "demo" })).toBe(
      "Choose another port with `npm start -- --port N`, or `npm run -s slipway -- down` first.",
    );
  });

  it("names slipway demo in advice after slipway demo", () => {
    expect(asTyped(TEXT, { self: [], env: {}, command: "demo" })).toBe(
      "Choose another port with `slipway demo --port N`, or `slipway down` first.",
    );
  });

  it("slipway up is left as it is", () => {
    expect(asTyped(TEXT, { self: [], env: {}, command: "up" })).toBe(TEXT);
  });
});
