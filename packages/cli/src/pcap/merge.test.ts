import { describe, expect, it } from "vitest";
import { mergeCaptures, oneKind, openCapture } from "./merge.ts";
import { captureBytes } from "./testing/captures.ts";

/** In pieces of that size, as a connection may bring it. */
async function* pieces(bytes: Buffer, size: number): AsyncIterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function begunOf(captures: Readonly<Record<string, Buffer>>, size: number) {
  const all = Object.entries(captures).map(([name, bytes]) => openCapture(name, pieces(bytes, size)));
  return (await Promise.all(all)).filter((one) => one !== undefined);
}

/** The file they make, how many packets it is said to have, and which of them were broken. */
async function merged(captures: Readonly<Record<string, Buffer>>, size = 7) {
  const begun = await begunOf(captures, size);
  const one = oneKind(begun);
  if ("links" in one) throw new Error(one.links.join("; "));
  const written: Buffer[] = [];
  const broken: string[] = [];
  let count = 0;
  await mergeCaptures(
    begun,
    one.kind,
    async (bytes, packets) => {
      written.push(Buffer.from(bytes));
      count += packets;
    },
    async (name, isBroken) => {
      if (isBroken) broken.push(name);
    },
  );
  return { file: Buffer.concat(written), count, broken };
}

const ONE = [[100, 5, "first"] as const];
const TWO = [[200, 999_999, "second packet"] as const, [201, 0, ""] as const];

describe("captures of several VMs", () => {
  it.each([1, 7, 16, 24, 4096])("are one file with one header, in pieces of %i bytes", async (size) => {
    const { file, count } = await merged({ web: captureBytes(ONE), none: captureBytes([]) }, size);
    expect(file).toEqual(captureBytes(ONE));
    expect(count).toBe(1);
    expect((await merged({ web: captureBytes(TWO) }, size)).file).toEqual(captureBytes(TWO));
  });

  it("have all packets of all of them, each once", async () => {
    const { file, count } = await merged({ web: captureBytes(ONE), db: captureBytes(TWO) }, 4096);
    expect(count).toBe(3);
    const either = [captureBytes([...ONE, ...TWO]), captureBytes([...TWO, ...ONE])];
    expect(either.some((one) => one.equals(file))).toBe(true);
  });

  it("are in one order of bytes, whatever machines they are from", async () => {
    const big = captureBytes(TWO, { littleEndian: false });
    expect((await merged({ web: big })).file).toEqual(captureBytes(TWO));
    const nano = captureBytes(TWO, { littleEndian: false, nanoseconds: true });
    expect((await merged({ web: nano })).file).toEqual(captureBytes(TWO, { nanoseconds: true }));
  });

  it("have times in nanoseconds when one of them does", async () => {
    const nano = captureBytes([], { nanoseconds: true, snaplen: 77 });
    const { file } = await merged({ web: captureBytes(TWO), db: nano });
    const parts = [[200, 999_999_000, "second packet"] as const, [201, 0, ""] as const];
    expect(file).toEqual(captureBytes(parts, { nanoseconds: true }));
  });

  it("say the largest that a packet can be in any of them", async () => {
    const some = { web: captureBytes([], { snaplen: 77 }), db: captureBytes([], { snaplen: 99 }) };
    expect((await merged(some)).file).toEqual(captureBytes([], { snaplen: 99 }));
  });

  it("are refused if their links differ, and the error names the VMs of each", async () => {
    const some = { web: captureBytes([]), db: captureBytes([], { linkType: 276 }), a: captureBytes([]) };
    await expect(merged(some)).rejects.toThrow("Ethernet of web, a; Linux cooked v2 of db");
  });

  it.each([1, 15, 16, 20])("lose a packet of which only %i bytes have come", async (kept) => {
    const whole = captureBytes([...ONE, ...TWO.slice(0, 1)]);
    const { file, count, broken } = await merged({ web: whole.subarray(0, 24 + 16 + 5 + kept) });
    expect(file).toEqual(captureBytes(ONE));
    expect(count).toBe(1);
    expect(broken).toEqual([]);
  });

  it("end where one is broken, and the others go on", async () => {
    const bad = Buffer.concat([captureBytes(ONE), Buffer.alloc(64, 0xff)]);
    const { file, broken } = await merged({ web: bad, db: captureBytes(TWO) }, 24 + 16 + 5);
    expect(broken).toEqual(["web"]);
    expect(file.length).toBe(captureBytes([...ONE, ...TWO]).length);
  });
});

describe("what is no capture", () => {
  it.each([
    ["words", Buffer.from("Welcome to this machine, stranger!"), 'it begins with "Welcome to'],
    ["less than a header", captureBytes([]).subarray(0, 23), "it ends after 23 bytes"],
    ["another version", Buffer.from(captureBytes([])).fill(9, 4, 5), "it begins with"],
  ])("is told: %s", async (_, bytes, why) => {
    await expect(openCapture("web", pieces(bytes, 5))).rejects.toThrow(why);
  });

  it("is nothing at all", async () => {
    expect(await openCapture("web", pieces(Buffer.alloc(0), 5))).toBeUndefined();
  });
});
