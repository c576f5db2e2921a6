import { latch } from "@slipway/testkit/waiting";
import { describe, expect, it } from "vitest";
import { GroupCommit } from "./group-commit.ts";

describe("writes that come while another is under way", () => {
  it("go together with the next, in their order; a single one does not wait", async () => {
    const first = latch();
    const written: (readonly number[])[] = [];
    const together = new GroupCommit<number>(
      async (items) => {
        written.push(items);
        if (items.includes(1)) await first.opened;
      },
      () => false,
    );
    const all = [1, 2, 3, 4].map((item) => together.add(item));
    expect(written).toEqual([[1]]);
    first.open();
    await Promise.all(all);
    expect(written).toEqual([[1], [2, 3, 4]]);
  });

  const failing = (wasRefused: boolean) => {
    const first = latch();
    const sent: (readonly number[])[] = [];
    const together = new GroupCommit<number>(
      async (items) => {
        sent.push(items);
        if (items.includes(1)) await first.opened;
        if (items.includes(3)) throw new Error("no");
      },
      () => wasRefused,
    );
    const all = [1, 2, 3, 4].map((item) => together.add(item));
    first.open();
    return { sent, ended: Promise.allSettled(all) };
  };

  it("fail alone when what they were sent with was refused", async () => {
    const { sent, ended } = failing(true);
    expect((await ended).map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "fulfilled",
    ]);
    expect(sent).toEqual([[1], [2, 3, 4], [2], [3], [4]]);
  });

  it("are not sent again when their outcome is unknown", async () => {
    const { sent, ended } = failing(false);
    expect((await ended).map(({ status }) => status)).toEqual([
      "fulfilled",
      "rejected",
      "rejected",
      "rejected",
    ]);
    expect(sent).toEqual([[1], [2, 3, 4]]);
  });
});
