import { spawn } from "node:child_process";
import { once } from "node:events";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { databaseOf, stopLeftDatabase } from "@slipway/director/store/embedded/left-behind";
import { systemClock } from "@slipway/kernel/clock";
import { bundled } from "@slipway/testkit/bundle";
import { eventually } from "@slipway/testkit/eventually";
import { passableDirectory } from "@slipway/testkit/temporary";
import { expect, it, onTestFinished } from "vitest";

const bench = bundled("./main.ts", import.meta.url);

it("stops the database of a benchmark that a signal cuts off", async () => {
  const dir = await passableDirectory("bench");
  const stateDir = join(dir, "state");
  onTestFinished(async () => {
    await stopLeftDatabase(stateDir, systemClock);
    await rm(dir, { recursive: true, force: true });
  });
  // The bundle is not in the repository, where the server's package is found.
  const env = {
    ...process.env,
    NODE_PATH: fileURLToPath(new URL("../../../../node_modules", import.meta.url)),
  };
  const child = spawn(process.execPath, [bench(), "database", stateDir], { stdio: "ignore", env });
  const ended = once(child, "exit");
  await eventually("the server starts", () => databaseOf(stateDir));
  child.kill("SIGTERM");
  await ended;
  expect(await databaseOf(stateDir)).toBeUndefined();
});
