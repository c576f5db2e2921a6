import { PassThrough } from "node:stream";
import type { ReadStream } from "node:tty";
import { expect, it } from "vitest";
import { type Key, openScreen } from "./screen.ts";

class Keyboard extends PassThrough {
  raw: boolean[] = [];
  setRawMode(on: boolean): this {
    this.raw.push(on);
    return this;
  }
}

function open(columns = 10) {
  const written: string[] = [];
  const keys: Key[] = [];
  const keyboard = new Keyboard();
  let resize = () => {};
  let listens = true;
  const out = {
    write: (text: string) => written.push(text),
    columns,
    rows: 4,
    onResize: (listener: () => void) => {
      resize = listener;
      return () => {
        listens = false;
      };
    },
  };
  const screen = openScreen({
    out,
    input: keyboard as unknown as ReadStream,
    onKey: (key) => keys.push(key),
    onResize: () => written.push("<resized>"),
  });
  const take = () => written.splice(0).join("");
  return { screen, keyboard, keys, take, resize: () => resize(), listens: () => listens };
}

it("writes only lines that differ, in one piece", () => {
  const { screen, take } = open();
  take();
  screen.draw(["one", "two"]);
  expect(take()).toBe("\x1b[?2026h\x1b[1;1Hone\x1b[0m\x1b[K\x1b[2;1Htwo\x1b[0m\x1b[K\x1b[?2026l");
  screen.draw(["one", "2"]);
  expect(take()).toBe("\x1b[?2026h\x1b[2;1H2\x1b[0m\x1b[K\x1b[?2026l");
  screen.draw(["one", "2"]);
  expect(take()).toBe("");
  screen.close();
});

it("does not clear the last column behind a full line", () => {
  const { screen, take } = open(3);
  take();
  screen.draw(["abc"]);
  expect(take()).not.toContain("\x1b[K");
  screen.close();
});

it("draws everything again when the window has another size", () => {
  const { screen, take, resize } = open();
  screen.draw(["one"]);
  take();
  resize();
  expect(take()).toBe("\x1b[2J<resized>");
  screen.draw(["one"]);
  expect(take()).toContain("one");
  screen.close();
});

it("hears keys, several at once too, and passes over others", async () => {
  const { screen, keyboard, keys } = open();
  keyboard.write("j\x1b[Ax\x1b[6~\x1b[1;5Cq\x03");
  await expect.poll(() => keys).toEqual(["down", "up", "page down", "quit", "interrupt"]);
  screen.close();
});

it("gives the terminal back as it was, once, also when the program ends at once", () => {
  const { screen, keyboard, take, listens } = open();
  expect(take()).toContain("\x1b[?1049h\x1b[?25l");
  const before = process.listenerCount("exit");
  screen.close();
  expect(take()).toBe("\x1b[2J\x1b[?7h\x1b[?25h\x1b[?1049l");
  expect(keyboard.raw).toEqual([true, false]);
  expect(process.listenerCount("exit")).toBe(before - 1);
  expect(listens()).toBe(false);
  screen.close();
  screen.draw(["late"]);
  expect(take()).toBe("");
});
