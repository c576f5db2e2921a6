import { describe, expect, it } from "vitest";
import { draw, read } from "./draw.mjs";
import { missing } from "./follow-page.mjs";

describe("a page that is followed", () => {
  it("shows what was printed, in this order, with gaps", () => {
    const said = ["Task 3 | 10:00:00 | one (00:00:01)", "noise", "two vm-0123456789abcdef0123456789abcdef"];
    expect(
      missing(["...", "Task 9 | 11:11:11 | one", "...", "two vm-fedcba9876543210fedcba9876543210"], said),
    ).toBeUndefined();
    expect(missing(["A CPI of yours is in ..."], ["A CPI of yours is in /tmp/x"])).toBeUndefined();
  });

  it("is refused where it shows what was not printed, or in another order", () => {
    expect(missing(["two"], ["one"])).toBe("two");
    expect(missing(["two", "one"], ["one", "two"])).toBe("one");
  });
});

describe("a picture", () => {
  it("is drawn of its text", () => {
    const svg = draw("diagram Two\nlanes A | B\nA -> B: hello <you>\nB --> A: yes\nnote done\n");
    expect(svg).toContain("hello &lt;you&gt;");
    expect(svg.match(/stroke-dasharray/g)).toHaveLength(1);
  });

  it("is drawn of what a terminal has shown", () => {
    const svg = draw("terminal A demo\n$ npm start\n\nVisits: <1>\n");
    expect(svg).toContain("<title>A demo</title>");
    expect(svg).toContain("Visits: &lt;1&gt;");
  });

  it("names the line that it does not understand", () => {
    expect(() => read("diagram X\nlanes A | B\nA -> C: x\n")).toThrow("line 3: there is no lane C");
    expect(() => read("diagram X\nwhat\n")).toThrow("line 2");
  });
});
