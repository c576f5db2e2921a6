import { readFile } from "node:fs/promises";
import type { Director } from "@slipway/director/start/director";
import type { DirectorConfig } from "@slipway/protocol/director/config-file";
import { backendFor, writeChoice } from "../cpis/choice.ts";
import type { Backend, ChosenCpi, PreparedCpi } from "../cpis/descriptor.ts";
import { decide } from "../cpis/prepare.ts";
import { cpiNamed } from "../cpis/table.ts";
import type { Home } from "../home/home.ts";
import { makeHome } from "../home/make-home.ts";
import type { Tools } from "../tools.ts";
import { chooseConfig, configOf, rememberConfig, type UpOptions } from "./config.ts";
import { writeEnvFile } from "./env-file.ts";
import { HomeInUse, HomePrivate } from "./errors.ts";
import { lockHome } from "./home-dir.ts";
import { rememberNats } from "./nats.ts";
import { rememberPort } from "./port.ts";
import { findCloud, forgetRunning, type Reach, type RunningDirector, writeRunning } from "./running.ts";

/** A Director with a CPI in this process, its database and its VMs. */
export interface RunningCloud {
  readonly reach: Reach;
  readonly backend: Backend;
  readonly adoptedDatabase: boolean;
  /** True if the environment file holds a user and a password. */
  readonly credentials: boolean;
  /** Stops all of it but VMs that outlive it; state and disks are kept. */
  close(): Promise<void>;
}

export type CloudTools = Pick<Tools, "home" | "clock" | "random" | "programs" | "ui" | "env">;

/** Opens a home's cloud in this process, for this process alone. What was opened is closed again if something fails. */
export async function openCloud(
  options: UpOptions,
  prepared: PreparedCpi,
  tools: CloudTools,
): Promise<RunningCloud> {
  const opened: (() => Promise<unknown>)[] = [];
  const closeAll = async () => {
    const failures: unknown[] = [];
    for (const close of opened.splice(0).reverse())
      await close().catch((error: unknown) => failures.push(error));
    if (failures.length > 0) throw failures[0];
  };
  try {
    return await open(options, prepared, tools, (close) => opened.push(close), closeAll);
  } catch (error) {
    await closeAll().catch(() => undefined);
    throw error;
  }
}

async function open(
  options: UpOptions,
  prepared: PreparedCpi,
  tools: CloudTools,
  atClose: (close: () => Promise<unknown>) => void,
  closeAll: () => Promise<void>,
): Promise<RunningCloud> {
  const { home, clock } = tools;
  await makeHome(home, process.getuid?.() ?? 1);
  const lock = await lockHome(home, clock);
  atClose(() => lock.release());
  const since = clock.now();
  await writeRunning(home, since);
  atClose(() => forgetRunning(home));

  const asked = await chooseConfig(options, home, tools.random);
  const choice = await decide(home, prepared, tools.random);
  const unnamed = await backendFor(choice, tools);
  const config = await unnamed.configure(asked);

  // Before the Director: a task it resumes may need them.
  atClose(() => unnamed.stopVms());
  await unnamed.startVms();
  const director = await direct(config, options, unnamed, tools).catch(inWordsOfUp);
  atClose(() => director.close());
  const backend = await backendFor(await withDirector(home, choice, director.uuid), tools);

  const { url, caFile, admin, adoptedDatabase } = director;
  const reach: Reach = { url, caFile, port: Number(new URL(url).port) };
  await writeEnvFile(home, { url, caFile, admin: admin && (await credentials(admin)) });
  await rememberPort(home, reach.port);
  await rememberNats(home, config);
  await rememberConfig(home, await configOf(options, home));
  await writeRunning(home, since, reach);
  return { reach, backend, adoptedDatabase, credentials: admin !== undefined, close: closeAll };
}

async function direct(
  config: DirectorConfig,
  { accept }: UpOptions,
  backend: Backend,
  tools: CloudTools,
): Promise<Director> {
  const { home, clock, random, ui } = tools;
  const [{ startDirector }, { withEnvironment }, { VERSION }, embeddedCpi] = await Promise.all([
    import("@slipway/director/start/director"),
    import("@slipway/director/start/configuration"),
    import("@slipway/director/start/version"),
    backend.embedded(),
  ]);
  return await startDirector({
    // The terminal shows the Director's warnings and errors only.
    config: withEnvironment({ ...config, logging: { level: "warn", ...config.logging } }, tools.env),
    stateDir: home.director,
    version: VERSION,
    clock,
    random,
    embeddedCpi,
    accept,
    script: tools.programs.self[1],
    log: (line) => ui.note(line),
  });
}

async function withDirector(home: Home, choice: ChosenCpi, director: string): Promise<ChosenCpi> {
  const named = cpiNamed(choice.cpi).withDirector(choice, director);
  if (named !== choice) await writeChoice(home, named);
  return named;
}

/** The Director's own words name a setting that `up` does not take. */
async function inWordsOfUp(cause: unknown): Promise<never> {
  const { Unreachable } = await import("@slipway/director/store/errors");
  const closed = Unreachable.paramsOf(cause);
  throw closed === undefined ? cause : HomePrivate(closed);
}

async function credentials({ name, passwordFile }: NonNullable<Director["admin"]>) {
  return { name, password: (await readFile(passwordFile, "utf8")).trim() };
}

export type Obtained =
  | { readonly found: RunningDirector }
  | { readonly found?: undefined; readonly cloud: RunningCloud };

/** The home's cloud: the one that runs, in whatever process, or a new one in this process. */
export async function obtainCloud(
  options: UpOptions,
  prepared: PreparedCpi,
  tools: Tools,
): Promise<Obtained> {
  const before = await findCloud(tools, options.port);
  if (before !== undefined) return { found: before };
  try {
    return { cloud: await openCloud(options, prepared, tools) };
  } catch (error) {
    if (!HomeInUse.is(error)) throw error;
    // Another process was quicker by a moment.
    const found = await findCloud(tools, options.port);
    if (found === undefined) throw error;
    return { found };
  }
}
