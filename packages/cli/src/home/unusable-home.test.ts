import { chown, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryDirectory } from "@slipway/testkit/temporary";
import { afterEach, beforeEach, expect, it } from "vitest";
import { homeOf } from "./home.ts";
import { homeUnusable } from "./unusable-home.ts";

let dir: string;
let remove: () => Promise<void>;
beforeEach(async () => {
  ({ path: dir, remove } = await temporaryDirectory());
});
afterEach(() => remove());

const refused = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
const homeIn = (...path: string[]) => homeOf({ SLIPWAY_HOME: join(dir, ...path) }, 1);

it("a home that cannot be used says whose it is", async () => {
  await mkdir(join(dir, "home"));
  // Only root can give a directory away; other users see their own name.
  if (process.getuid?.() === 0) await chown(join(dir, "home"), 1, 1);
  const { message } = await homeUnusable(homeIn("home"), refused);
  expect(message).toMatch(
    process.getuid?.() === 0 ? /belongs to daemon, and you are root/ : /belongs to \S+, and you are/,
  );
});

it("a home that is not there says whose the directory above is", async () => {
  const { message } = await homeUnusable(homeIn("not", "there"), refused);
  expect(message).toMatch(/EACCES: it belongs to /);
});
