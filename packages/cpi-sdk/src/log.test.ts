import { fakeClock } from "@slipway/testkit/fake-clock";
import { type CloudMethods, cloudCpi, MemoryCloud } from "@slipway/testkit/memory-cloud";
import { ask, resultOf, wellFormed } from "@slipway/testkit/requests";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { embed } from "./embed.ts";
import { BoundedText, scrubber } from "./log.ts";

describe("the log of a call", () => {
  const talking = (rebootVm: CloudMethods["rebootVm"]) =>
    cloudCpi(new MemoryCloud(), { methods: { rebootVm: rebootVm as NonNullable<typeof rebootVm> } });

  it("is in the reply and in the stream, line by line, with time, level, request and method", async () => {
    const stream: string[] = [];
    const cpi = talking((_, { log }) => {
      log.debug("looking");
      log.info("found");
      log.warn("odd");
      log.error("lost");
    });
    const clock = fakeClock({ start: Date.UTC(2026, 0, 2, 3, 4, 5) });
    const client = embed(cpi, { clock, stream: (line) => stream.push(line) });
    const reply = wellFormed(await client.request(ask("reboot_vm", ["vm-1"], { requestId: "cpi-7" })));
    const head = (level: string) => `2026-01-02T03:04:05.000Z ${level} [cpi-7] reboot_vm: `;
    expect(stream).toEqual([
      `${head("DEBUG")}looking\n`,
      `${head("INFO")}found\n`,
      `${head("WARN")}odd\n`,
      `${head("ERROR")}lost\n`,
    ]);
    expect(reply.log).toBe(stream.join(""));
  });

  it("is kept when the call fails", async () => {
    const cpi = talking((_, { log }) => {
      log.info("about to fail");
      throw new Error("failed");
    });
    const reply = wellFormed(await embed(cpi).request(ask("reboot_vm", ["vm-1"])));
    expect(reply.error?.message).toBe("failed");
    expect(reply.log).toContain("about to fail");
  });

  it("streams all of ten mebibytes, and keeps its beginning and end in the reply", async () => {
    let streamed = 0;
    const cpi = talking((_, { log }) => {
      log.info("the first line");
      for (let i = 0; i < 10_240; i++) log.info("x".repeat(1024));
      log.info("the last line");
    });
    const client = embed(cpi, {
      stream: (line) => {
        streamed += line.length;
      },
    });
    const reply = wellFormed(await client.request(ask("reboot_vm", ["vm-1"])));
    expect(resultOf(reply)).toBeNull();
    expect(streamed).toBeGreaterThan(10 * 2 ** 20);
    expect(reply.log.length).toBeLessThan(300 * 1024);
    expect(reply.log).toContain("the first line");
    expect(reply.log).toContain("the last line");
    expect(reply.log).toMatch(/\[\d+ characters left out\]/);
  });
});

describe("a bounded text", () => {
  const short = (parts: readonly string[]) => {
    const text = new BoundedText();
    for (const part of parts) text.add(part);
    return text.toString();
  };

  it("is the whole text as long as that is short", () => {
    fc.assert(
      fc.property(fc.array(fc.string({ unit: "grapheme" })), (parts) => {
        expect(short(parts)).toBe(parts.join(""));
      }),
    );
  });

  it("is the same however the text is cut into pieces, and says how much it left out", () => {
    const whole = Array.from({ length: 60_000 }, (_, i) => `line ${i}\n`).join("");
    const one = short([whole]);
    expect(one.startsWith(whole.slice(0, 60_000))).toBe(true);
    expect(one.endsWith(whole.slice(-190_000))).toBe(true);
    const left = Number(/\[(\d+) characters left out\]/.exec(one)?.[1]);
    expect(one.length).toBe(whole.length - left + `\n[${left} characters left out]\n`.length);
    for (const size of [40, 1000, 65_536, 200_000]) {
      const pieces = Array.from({ length: Math.ceil(whole.length / size) }, (_, i) =>
        whole.slice(i * size, (i + 1) * size),
      );
      expect(short(pieces)).toBe(one);
    }
  });

  it("never ends in half a character", () => {
    const text = short([`x${"🦀".repeat(300_000)}`]);
    expect(text).not.toMatch(/\p{Surrogate}/u);
  });
});

describe("scrubbing", () => {
  it("removes a secret as it stands, in JSON, in JSON within JSON, and in a URL", () => {
    const secret = 'line one\nline "two" /é @';
    const scrub = scrubber([secret]);
    const json = JSON.stringify({ key: secret });
    expect(scrub(`a ${secret} b`)).toBe("a <redacted> b");
    expect(scrub(json)).toBe('{"key":"<redacted>"}');
    expect(scrub(JSON.stringify({ user_data: json }))).toBe('{"user_data":"{\\"key\\":\\"<redacted>\\"}"}');
    expect(scrub(`http://u:${encodeURIComponent(secret)}@h`)).toBe("http://u:<redacted>@h");
  });

  it("removes the longer of two secrets first", () => {
    expect(scrubber(["abcd", "abcdefgh"])("abcdefgh abcd")).toBe("<redacted> <redacted>");
  });

  it("leaves no secret in any text that holds it", () => {
    const secret = fc.string({ minLength: 4, unit: "grapheme" });
    fc.assert(
      fc.property(secret, fc.string(), fc.string(), (hidden, before, after) => {
        fc.pre(!"<redacted>".includes(hidden) && !`${before}<redacted>${after}`.includes(hidden));
        const scrub = scrubber([hidden]);
        expect(scrub(before + hidden + after)).not.toContain(hidden);
        expect(scrub(JSON.stringify([hidden]))).not.toContain(JSON.stringify(hidden).slice(1, -1));
      }),
    );
  });
});
