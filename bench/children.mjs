// Programs that a benchmark starts end with it: a signal is passed on to them, and the benchmark waits until they have ended.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";

const running = new Map();
const directories = new Set();
let ending = false;

/** Starts a Node program. */
export const startNode = (args, options) => ownChild(spawn(process.execPath, args, options));

/** Ends a child process with the benchmark. */
export function ownChild(child) {
  const ended = once(child, "exit").catch(() => undefined);
  running.set(child, ended);
  void ended.then(() => running.delete(child));
  return child;
}

/** Removes a directory when the benchmark ends, however it does. The returned function removes it now. */
export function removedAtEnd(dir) {
  directories.add(dir);
  return () => {
    rmSync(dir, { recursive: true, force: true });
    directories.delete(dir);
  };
}

async function end(code) {
  // A signal often comes twice, from the terminal and from npm.
  if (ending) return;
  ending = true;
  // What waits for a program that is ended fails; the benchmark must not end for it before the others.
  process.on("uncaughtException", () => undefined);
  for (const child of running.keys()) child.kill("SIGTERM");
  await Promise.all(running.values());
  process.exit(code);
}

for (const [signal, code] of [
  ["SIGINT", 130],
  ["SIGTERM", 143],
])
  process.on(signal, () => void end(code));
process.on("exit", () => {
  for (const dir of directories) rmSync(dir, { recursive: true, force: true });
});
