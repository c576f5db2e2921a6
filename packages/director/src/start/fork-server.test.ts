import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { bundle } from "@slipway/testkit/bundle";
import { expect, it, onTestFinished } from "vitest";
import { smallDirector } from "./testing/small-director.ts";

/** Processes that started the CPI for a task. */
async function parentsIn(director: Awaited<ReturnType<typeof smallDirector>>): Promise<Set<number>> {
  const task = await director.taskOf("/vms/vm-1");
  const { text } = await director.ask("GET", `/tasks/${task}/output?type=cpi`);
  return new Set([...text.matchAll(/its parent is (\d+)/g)].map((found) => Number(found[1])));
}

it("starts CPI executables by the fork server that stands beside the program", async () => {
  const dir = await mkdtemp(join(tmpdir(), "beside-"));
  onTestFinished(() => rm(dir, { recursive: true, force: true }));
  const program = fileURLToPath(import.meta.resolve("@slipway/engine/clouds/fork-server-program"));
  const server = await bundle(program, { to: join(dir, "fork-server.cjs") });
  const director = await smallDirector({}, join(dirname(server), "director.cjs"));
  onTestFinished(() => director.close());
  const parents = await parentsIn(director);
  expect(parents.size).toBe(1);
  expect(parents).not.toContain(process.pid);
});

it("starts CPI executables itself if there is no fork server", async () => {
  const director = await smallDirector();
  onTestFinished(() => director.close());
  expect(await parentsIn(director)).toEqual(new Set([process.pid]));
});
