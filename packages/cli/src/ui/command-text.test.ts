import { describe, expect, it } from "vitest";
import { rewriteCommands } from "./command-text.ts";

const TEXT = "Choose another port with `slipway up --port N`, or `slipway down` first.";
const self = ["node", "/clone/packages/cli/dist/slipway.cjs"];

describe("what to type next, for the one who typed", () => {
  it("names npm start in advice after npm start", () => {
    const env = { PATH: "/nowhere", SLIPWAY_BY_NPM: "start" };
    expect(rewriteCommands(TEXT, { self, env, command: "demo" })).toBe(
      "Choose another port with `npm start -- --port N`, or `npm run -s slipway -- down` first.",
    );
  });

  it("names slipway demo in advice after slipway demo", () => {
    expect(rewriteCommands(TEXT, { self: [], env: {}, command: "demo" })).toBe(
      "Choose another port with `slipway demo --port N`, or `slipway down` first.",
    );
  });

  it("slipway up is left as it is", () => {
    expect(rewriteCommands(TEXT, { self: [], env: {}, command: "up" })).toBe(TEXT);
  });

  it("names the options of npm start in advice about the demo", () => {
    const env = { PATH: "/nowhere", SLIPWAY_BY_NPM: "start" };
    expect(rewriteCommands("`slipway demo --range R`", { self, env, command: "demo" })).toBe(
      "`npm start -- --range R`",
    );
  });

  it("names slipway where a Director names bosh", () => {
    expect(rewriteCommands("`bosh -d shop start` starts it.", { self: [], env: {}, command: "ssh" })).toBe(
      "`slipway -d shop start` starts it.",
    );
  });
});
