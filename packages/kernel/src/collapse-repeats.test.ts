import { fakeClock } from "@slipway/testkit/fake-clock";
import { expect, it } from "vitest";
import { collapseRepeats } from "./collapse-repeats.ts";

function listening() {
  const clock = fakeClock();
  const lines: string[] = [];
  return { clock, lines, say: collapseRepeats(clock, (line) => lines.push(line)) };
}

it("what is said again and again within a minute is counted, and told once the minute is over", async () => {
  const { clock, lines, say } = listening();
  for (let nth = 0; nth < 1000; nth++) say("a TLS handshake failed");
  say("something else");
  expect(lines).toEqual([...Array(10).fill("a TLS handshake failed"), "something else"]);
  await clock.advance(60_000);
  say("a TLS handshake failed");
  expect(lines.slice(11)).toEqual(["a TLS handshake failed (repeated 990 times)", "a TLS handshake failed"]);
});

it("what is said a few times is passed on each time", () => {
  const { lines, say } = listening();
  for (const message of ["asked", "asked", "other", "asked"]) say(message);
  expect(lines).toEqual(["asked", "asked", "other", "asked"]);
});

it("what differs by more than the port of a peer is another message", () => {
  const { lines, say } = listening();
  for (let nth = 0; nth < 10; nth++) say(`from 10.0.0.1:${4000 + nth}`);
  for (const text of ["from 10.0.0.1:4001", "from 10.0.0.2:4001", "task 1", "task 2"]) say(text);
  expect(lines.slice(10)).toEqual(["from 10.0.0.2:4001", "task 1", "task 2"]);
});

it("however many different messages there are, only some are remembered", () => {
  const { lines, say } = listening();
  for (let nth = 0; nth < 500; nth++) say(`message ${nth}`);
  say("message 0");
  expect(lines).toHaveLength(501);
  for (let nth = 0; nth < 20; nth++) say("message 499");
  expect(lines).toHaveLength(510);
});
