import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { describe, expect, it } from "vitest";
import { askHidden, askLine } from "./prompt.ts";

function streams() {
  const told: string[] = [];
  const keyboard = new PassThrough();
  const input = Object.assign(keyboard, {
    isTTY: true,
    setRawMode: (on: boolean) => void told.push(on ? "<hidden>" : "<shown>"),
  }) as unknown as ReadStream;
  const stop = new AbortController();
  return {
    told,
    keyboard,
    stop,
    streams: { input, stop: stop.signal, write: (text: string) => void told.push(text) },
  };
}

describe("a hidden answer", () => {
  it("is never shown: echo is off before the question is asked", async () => {
    const { told, keyboard, streams: at } = streams();
    const answer = askHidden("Password: ", at);
    keyboard.write("secrét\r");
    expect(await answer).toBe("secrét");
    expect(told).toEqual(["<hidden>", "Password: ", "<shown>", "\n"]);
  });

  it.each([
    ["abx\u007fc\r", "abc"],
    ["abc\u0015xyz\n", "xyz"],
    ["a\u0001b\r", "ab"],
  ])("%j can be corrected as it is typed", async (typed, wanted) => {
    const { keyboard, streams: at } = streams();
    const answer = askHidden("Password: ", at);
    for (const key of typed) keyboard.write(key);
    expect(await answer).toBe(wanted);
  });

  it.each(["\u0003", "\u0004"])("ends with %j, and the terminal shows what is typed again", async (key) => {
    const { told, keyboard, streams: at } = streams();
    const answer = askHidden("Password: ", at);
    keyboard.write(key);
    await expect(answer).rejects.toMatchObject({ name: "Interrupted" });
    expect(told).toContain("<shown>");
  });
});

describe.each([
  ["shown", askLine],
  ["hidden", askHidden],
])("a question (%s)", (_, ask) => {
  it("ends when the program is stopped, and when its input is closed", async () => {
    const told = streams();
    const stopped = ask("Name: ", told.streams);
    told.stop.abort();
    await expect(stopped).rejects.toMatchObject({ name: "Interrupted" });
    await expect(ask("Name: ", told.streams)).rejects.toMatchObject({ name: "Interrupted" });
    const gone = streams();
    const ended = ask("Name: ", gone.streams);
    gone.keyboard.end();
    await expect(ended).rejects.toMatchObject({ name: "Interrupted" });
  });

  it("is answered by one line", async () => {
    const { keyboard, streams: at } = streams();
    const answer = ask("Name: ", at);
    keyboard.write("me\n");
    expect(await answer).toBe("me");
  });
});
