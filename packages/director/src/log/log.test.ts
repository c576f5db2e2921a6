import { fakeClock } from "@slipway/testkit/fake-clock";
import { expect, it } from "vitest";
import { directorLog, type LogSettings } from "./log.ts";

const NOW = "2026-11-17T12:00:00.000Z";

function logging(settings: Partial<LogSettings> = {}) {
  const clock = fakeClock({ start: Date.parse(NOW) });
  const lines: string[] = [];
  const log = directorLog(clock, { level: "info", format: "text", ...settings }, (line) => lines.push(line));
  return { clock, lines, log };
}

it("has a line for people: when, how bad, what, and what it can be found by", () => {
  const { lines, log } = logging();
  log.info("task begins", { task: 7, request: "a-b", user: "Ann Lee", deployment: undefined });
  expect(lines).toEqual([`${NOW} INFO task begins task=7 request=a-b user="Ann Lee"`]);
});

it("has the same as JSON", () => {
  const { lines, log } = logging({ format: "json" });
  log.warn("so\nit is", { task: 7, request: "a-b", user: undefined });
  expect(lines.map((line) => JSON.parse(line) as unknown)).toEqual([
    { time: NOW, level: "warn", message: "so\nit is", task: 7, request: "a-b" },
  ]);
});

it("writes what is at least as bad as its level, which may change", () => {
  const { lines, log } = logging({ level: "warn" });
  const all = () => {
    lines.length = 0;
    for (const level of ["debug", "info", "warn", "error"] as const) log[level](level);
    return lines.map((line) => line.split(" ").at(-1));
  };
  expect(all()).toEqual(["warn", "error"]);
  log.use({ level: "debug", format: "text" });
  expect(all()).toEqual(["debug", "info", "warn", "error"]);
});

it("stays a line whatever a peer has said, in its message and its fields", () => {
  const { lines, log } = logging();
  log.info("a\n2026 ERROR forged\u001b[2J", { path: "x\ny=z" });
  expect(lines).toEqual([`${NOW} INFO a | 2026 ERROR forged?[2J path="x\\ny=z"`]);
});

it("shows no credential of an address", () => {
  const { lines, log } = logging();
  log.error("at https://u:CANARY@host/x", { from: "https://u:CANARY@host" });
  log.use({ level: "info", format: "json" });
  log.info("at https://u:CANARY@host/x", { from: "https://u:CANARY@host" });
  expect(lines.join("\n")).not.toContain("CANARY");
  expect(lines.join("\n")).toContain("host/x");
});

it("counts troubles that come again and again, and nothing else", async () => {
  const { clock, lines, log } = logging({ format: "json" });
  for (let times = 0; times < 50; times += 1) {
    log.error("the database is gone", { request: `r${times}` });
    log.info("GET /info 200", { request: `r${times}` });
  }
  expect(lines.filter((line) => line.includes("database"))).toHaveLength(10);
  expect(lines.filter((line) => line.includes("/info"))).toHaveLength(50);
  await clock.advance(61_000);
  log.error("another", { request: "other" });
  const told = lines.slice(-2).map((line) => JSON.parse(line) as unknown);
  expect(told).toMatchObject([{ message: "the database is gone (repeated 40 times)" }, { request: "other" }]);
  expect(told[0]).not.toHaveProperty("request");
});
