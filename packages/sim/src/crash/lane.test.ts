import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { passableDirectory } from "@slipway/testkit/temporary";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Lane } from "./lane.ts";

describe("a lane", () => {
  let dir = "";
  let lane: Lane;
  beforeAll(async () => {
    dir = await passableDirectory("lane-test");
    lane = await Lane.open(dir, { file: "", starter: "", code: "" });
    await lane.fresh();
  });
  afterAll(async () => {
    await lane.close();
    await rm(dir, { recursive: true, force: true });
  });

  /** A call of a CPI that writes a file when it is let go. */
  function callWriting(name: string): () => void {
    let go = () => {};
    const held = new Promise<void>((resolve) => {
      go = resolve;
    });
    void lane.track(held.then(() => writeFile(join(lane.memory, name), "")));
    return go;
  }

  it("keeps files only when the calls of CPIs under way have ended", async () => {
    const go = callWriting("result");
    const keeping = lane.keep();
    go();
    const kept = await keeping;
    expect(await readdir(kept.files)).toContain("result");
  });

  it("gives files back only when the calls of CPIs under way have ended", async () => {
    await lane.fresh();
    const kept = await lane.keep();
    const go = callWriting("late");
    const giving = lane.giveBack(kept);
    go();
    await giving;
    expect(await readdir(lane.memory)).not.toContain("late");
  });
});
