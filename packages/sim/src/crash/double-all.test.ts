import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, expect, it } from "vitest";
import { doubleAll } from "./double-all.ts";
import { Lane } from "./lane.ts";
import { ALL_SCENARIOS } from "./scenarios/table.ts";

let dir = "";
let lane: Lane;
beforeAll(async () => {
  const program = (name: string) => bundle(fileURLToPath(new URL(`../bin/${name}.ts`, import.meta.url)));
  dir = await passableDirectory("double");
  const [file, starter] = [await program("crash-child"), await program("crash-child-start")];
  lane = await Lane.open(dir, { file, starter, code: join(dir, "code") });
});
afterAll(async () => {
  await lane.close();
  await rm(dir, { recursive: true, force: true });
});

it("allows what a flow is to mend to stay wrong while its second life fails", async () => {
  const scenarios = ALL_SCENARIOS.filter(({ name }) => name === "delete a VM that nobody knows");
  const plan = { scenarios, seed: "november19", firsts: 4, seconds: 1, calls: 6 };
  const { seconds, broken } = await doubleAll([lane], plan, () => undefined);
  expect(seconds.lost).toBeGreaterThan(0);
  expect(broken).toEqual([]);
});
