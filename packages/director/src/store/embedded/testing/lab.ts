import { chmod, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { systemClock } from "@slipway/kernel/clock";
import { mustRun, systemExec } from "@slipway/kernel/exec";
import { bundle } from "@slipway/testkit/bundle";
import { afterAll, afterEach } from "vitest";
import { type Embedded, type EmbeddedOptions, openEmbedded } from "../open.ts";
import { withClient } from "../probe.ts";

export const ROOT = process.getuid?.() === 0;

const cleanups: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

/** Runs after the test, last registered first. */
export const later = (clean: () => Promise<unknown>): void => void cleanups.push(clean);

/** A directory that the server's user can reach. */
export async function directory(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-pg-"));
  await chmod(dir, 0o711);
  later(() => rm(dir, { recursive: true, force: true, maxRetries: 5 }));
  return dir;
}

let seed: Promise<string> | undefined;

/** A state directory with a database in it already, a copy of one made once: making one takes a while. */
export async function stateDirectory(): Promise<string> {
  seed ??= makeSeed();
  const dir = await directory();
  await mustRun(systemExec, "copying a database", "cp", ["-a", join(await seed, "database"), dir]);
  return dir;
}

async function makeSeed(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-pg-seed-"));
  await chmod(dir, 0o711);
  await (await openEmbedded({ stateDir: dir, clock: systemClock, durable: false })).close();
  return dir;
}
afterAll(async () => {
  if (seed !== undefined) await rm(await seed, { recursive: true, force: true });
});

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
  await withClient(embedded.connection, (client) => client.query("create table kept as select 42 as n"));
  console.log("pid " + embedded.pid());
  setInterval(() => undefined, 1000);
};
main().catch((error) => { console.log(errorText(error).split("\\n")[0]); process.exitCode = 1; });
`;

let opener: Promise<string> | undefined;
afterAll(async () => {
  if (opener !== undefined) await rm(dirname(dirname(await opener)), { recursive: true, force: true });
});

/** The bundle as it is shipped: one CommonJS file near a node_modules. */
export function bundledOpener(): Promise<string> {
  opener ??= makeBundle();
  return opener;
}

async function makeBundle(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), "slipway-pg-bundle-"));
  await chmod(dir, 0o755);
  await symlink(
    fileURLToPath(new URL("../../../../../../node_modules", import.meta.url)),
    join(dir, "node_modules"),
  );
  const script = { script: SCRIPT, in: fileURLToPath(new URL("..", import.meta.url)) };
  return await bundle(script, { to: join(dir, "dist", "opener.cjs") });
}
