import { afterEach, describe, expect, it, vi } from "vitest";
import { needs } from "./needs.ts";

describe("a suite that needs something of the machine", () => {
  afterEach(() => {
    vi.unstubAllEnvs();
    vi.restoreAllMocks();
  });

  it("runs where it is there", () => {
    vi.stubEnv("SLIPWAY_REQUIRE", "root-loop");
    expect(needs("root-loop", true)).toBe(true);
  });

  it("is skipped aloud where it is not", () => {
    vi.stubEnv("SLIPWAY_REQUIRE", "");
    const said: string[] = [];
    vi.spyOn(process.stderr, "write").mockImplementation((text) => said.push(String(text)) > 0);
    expect(needs("nats-server", false, "no binary")).toBe(false);
    expect(said).toEqual(["skipped: a suite that needs nats-server: no binary (needs.test.ts)\n"]);
  });

  it("fails where it is required, among other things", () => {
    vi.stubEnv("SLIPWAY_REQUIRE", "xfs, nats-server");
    expect(() => needs("nats-server", false, "no binary")).toThrow(/SLIPWAY_REQUIRE asks for: no binary/);
  });
});
