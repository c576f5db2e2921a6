import { describe, expect, it } from "vitest";
import { Terminal, type TerminalOptions } from "./terminal.ts";

function open(options: Partial<TerminalOptions> & { readonly isTTY?: boolean } = {}) {
  const out: string[] = [];
  const err: string[] = [];
  const ui = new Terminal({
    out: { write: (text) => out.push(text), isTTY: options.isTTY, columns: options.isTTY ? 80 : undefined },
    err: { write: (text) => err.push(text) },
    input: undefined,
    stop: new AbortController().signal,
    json: false,
    tty: false,
    color: false,
    nonInteractive: false,
    only: [],
    columns: undefined,
    ...options,
  });
  return { ui, out: () => out.join(""), err: () => err.join("") };
}

const table = { content: "things", header: { b: "B", a: "A" }, rows: [["1", "2"]] };

describe("what is printed", () => {
  it("keeps its distance on a terminal", () => {
    const { ui, out } = open({ isTTY: true });
    ui.aside("Using environment 'x'");
    ui.taskBegins(4);
    ui.taskEnds(4, "done", undefined);
    ui.table(table);
    ui.aside("Succeeded");
    expect(out()).toBe("Using environment 'x'\n\nTask 4. Done\n\nB  A  \n1  2  \n\n1 things\n\nSucceeded\n");
  });

  it("is without decoration in a pipe", () => {
    const { ui, out } = open();
    ui.aside("Using environment 'x'");
    ui.taskBegins(4);
    ui.chunk("\nTask 4 | ");
    ui.chunk("a");
    ui.taskEnds(4, "done", "summary");
    ui.table(table);
    ui.aside("Succeeded");
    ui.close();
    expect(out()).toBe("Task 4 | a\n\n1\t2\t\n");
  });

  it("goes on below a line that was left open", () => {
    const { ui, out, err } = open();
    ui.chunk("\nTask 4 | a");
    ui.failure("CLI-026 it failed\n  next: look", 1);
    ui.close();
    expect(out()).toBe("Task 4 | a\n");
    expect(err()).toBe("CLI-026 it failed\n  next: look\n");
  });

  it("has upstream's shape with --json: sorted keys, null for missing notes", () => {
    const { ui, out } = open({ json: true, isTTY: true });
    ui.aside("Using");
    ui.table(table);
    ui.block("text\n");
    ui.failure("broken", 1);
    expect(out()).toBe("");
    ui.close();
    expect(JSON.parse(out())).toEqual({
      Tables: [{ Content: "things", Header: { a: "A", b: "B" }, Rows: [{ a: "2", b: "1" }], Notes: null }],
      Blocks: ["text\n"],
      Lines: ["Using", "broken", "Exit code 1"],
    });
    expect(out().indexOf('"a": "A"')).toBeLessThan(out().indexOf('"b": "B"'));
    const empty = open({ json: true });
    empty.ui.close();
    expect(JSON.parse(empty.out())).toEqual({ Tables: null, Blocks: null, Lines: null });
  });
});

describe("colours", () => {
  it.each([
    [{ isTTY: true, color: true }, true],
    [{ tty: true, color: true }, true],
    [{ isTTY: true, color: false }, false],
    [{ color: true }, false],
    [{ isTTY: true, color: true, json: true }, false],
  ])("are used or not by the options %j: %s", (options, coloured) => {
    expect(open(options).ui.paint.red("x") !== "x").toBe(coloured);
  });
});

describe("progress", () => {
  it("stays in place on a terminal, also when something else is printed", () => {
    const { ui, out } = open({ isTTY: true });
    const progress = ui.progress("one");
    progress.update("two");
    ui.line("between");
    progress.done("three");
    expect(out()).toBe("one\r\u001b[2Ktwo\r\u001b[2Kbetween\ntwo\r\u001b[2K✓ three\n");
  });

  it("is two lines elsewhere", () => {
    const { ui, out } = open();
    const progress = ui.progress("one");
    progress.update("two");
    progress.done("three");
    expect(out()).toBe("one\nthree\n");
  });
});

describe("questions", () => {
  it("are not asked with -n, and their error names it if there is no terminal", async () => {
    expect(await open({ nonInteractive: true }).ui.confirm("Continue?")).toBe(true);
    await expect(open().ui.confirm("Continue?")).rejects.toMatchObject({
      next: expect.stringContaining("-n"),
    });
    await expect(open().ui.ask("Password", { hidden: true })).rejects.toMatchObject({
      next: expect.stringContaining("BOSH_CLIENT_SECRET"),
    });
  });
});
