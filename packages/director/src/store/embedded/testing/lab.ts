import { chmod, mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { bundle } from "@slipway/testkit/bundle";
import { oncePerRun } from "@slipway/testkit/run";
import { onTestFinished } from "vitest";
import { type Embedded, type EmbeddedOptions, openEmbedded } from "../open.ts";
import { withClient } from "../probe.ts";

export const ROOT = process.getuid?.() === 0;

/** Runs after the test, last registered first. */
export const later = (clean: () => Promise<unknown>): void =>
  onTestFinished(async () => {
    await clean();
  });

/** A directory that the server's user can reach. */
export async function directory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-pg-"));
  await chmod(dir, 0o711);
  later(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

/** A state directory with a database in it already, a copy of one made once per test run: making one takes a while. */
export async function stateDirectory(): Promise<string> {
  const seed = await oncePerRun("state-directory", makeSeed);
  const dir = await directory();
  await mustRun(systemExec, "copying a database", "cp", ["-a", join(seed, "database"), dir]);
  return dir;
}

async function makeSeed(place: string): Promise<string> {
  await mkdir(place, { mode: 0o711 });
  await (await openEmbedded({ stateDir: place, clock: systemClock, durable: false })).close();
  return place;
}

/** Opened without waiting for the disk, closed after the test. */
export async function opened(stateDir: string, more: Partial<EmbeddedOptions> = {}): Promise<Embedded> {
  const embedded = await openEmbedded({ stateDir, clock: systemClock, durable: false, ...more });
  later(() => embedded.close());
  return embedded;
}

export const ask = async (embedded: Embedded, sql: string): Promise<unknown> =>
  withClient(embedded.connection, async (client) => {
    const { rows } = await client.query<Record<string, unknown>>(sql);
    return Object.values(rows[0] ?? {})[0];
  });

/** Opens a state directory, writes a table `kept`, says the server's pid, and waits to be killed. Prints errors with their code. */
const SCRIPT = `
import { systemClock } from "@slipway/kernel/clock";
import { errorText } from "@slipway/kernel/errors";
import { openEmbedded } from "./open.ts";
import { withClient } from "./probe.ts";
const [stateDir, fill] = process.argv.slice(2);
const main = async () => {
  const embedded = await openEmbedded({ stateDir, clock: systemClock, durable: false });
  if (fill === "fill") {
    try {
      await withClient(embedded.connection, async (client) => {
        await client.query("create table big (filling text)");
        for (;;) await client.query("insert into big select repeat(md5(g::text), 60) from generate_series(1, 20000) g");
      });
    } catch (error) {
      console.log("code " + error.code);
    }
    return embedded.close();
  }
  await withClient(embedded.connection, async (client) => {
    // Written when it is answered: the server may be killed next.
    await client.query("set synchronous_commit = on");
    await client.query("create table kept as select 42 as n");
  });
  console.log("pid " + embedded.pid());
  setInterval(() => undefined, 1000);
};
main().catch((error) => { console.log(errorText(error).split("\\n")[0]); process.exitCode = 1; });
`;

/** The bundle as it is shipped: one CommonJS file near a node_modules. */
export const bundledOpener = (): Promise<string> =>
  oncePerRun("opener", async (place) => {
    await mkdir(place, { mode: 0o755 });
    await symlink(
      fileURLToPath(new URL("../../../../../../node_modules", import.meta.url)),
      join(place, "node_modules"),
    );
    const script = { script: SCRIPT, in: fileURLToPath(new URL("..", import.meta.url)) };
    return await bundle(script, { to: join(place, "dist", "opener.cjs") });
  });
