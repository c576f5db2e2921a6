import { mkdir, readFile, rm } from "node:fs/promises";
import { dirname } from "node:path";
import { writeFileAtomic } from "@slipway/kernel/atomic-file";
import { messageTrail, systemCode } from "@slipway/kernel/errors";
import { systemExec } from "@slipway/kernel/exec";
import type { TypedInput } from "../command.ts";
import type { Tools } from "../tools.ts";
import { NoSystemd, NotInstalled, SystemctlFailed, UnitOfOthers } from "./errors.ts";
import { MARK, type Scope, unitPath, unitText } from "./unit.ts";

/** Service that a command is about. */
interface Service {
  readonly scope: Scope;
  readonly name: string;
  readonly path: string;
}

function serviceOf(given: TypedInput, { env }: Pick<Tools, "env">): Service {
  const root = process.getuid?.() === 0;
  const scope = given.flag("user") ? "user" : given.flag("system") || root ? "system" : "user";
  const name = given.text("name") ?? "slipway";
  return { scope, name, path: unitPath(scope, name, env) };
}

type ServiceTools = Pick<Tools, "env" | "stop">;

/** Asks systemctl; resolves to its exit code and what it printed. */
async function systemctl({ scope }: Service, args: readonly string[], { env, stop }: ServiceTools) {
  const names = ["HOME", "PATH", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS"];
  const own = names.flatMap((name) => (env[name] === undefined ? [] : [[name, env[name]] as const]));
  const all = scope === "user" ? ["--user", ...args] : args;
  const options = { env: Object.fromEntries(own), signal: stop };
  const { code, stdout, stderr } = await systemExec("systemctl", all, options).catch((cause: unknown) => {
    stop.throwIfAborted();
    throw NoSystemd({ why: messageTrail(cause) }, { cause });
  });
  return { code, said: stdout.trim() || stderr.trim(), line: all.join(" ") };
}

async function must(service: Service, args: readonly string[], tools: ServiceTools): Promise<void> {
  const { code, said, line } = await systemctl(service, args, tools);
  if (code !== 0) throw SystemctlFailed({ args: line, code, said });
}

/** Rejects where systemd is not the manager, before anything is written. */
async function mustRun(service: Service, tools: ServiceTools): Promise<void> {
  const { said } = await systemctl(service, ["is-system-running"], tools);
  if (/^(offline|unknown)?$|Failed to connect|not been booted/i.test(said))
    throw NoSystemd({ why: said === "" ? "systemctl says nothing" : said });
}

/** Undefined if there is no unit. */
async function ownUnit({ path }: Service): Promise<string | undefined> {
  const text = await readFile(path, "utf8").catch((error: unknown) => {
    if (systemCode(error) === "ENOENT") return undefined;
    throw error;
  });
  if (text !== undefined && !text.startsWith(MARK)) throw UnitOfOthers({ path });
  return text;
}

export async function installService(given: TypedInput, tools: Tools): Promise<void> {
  const { ui, home, programs } = tools;
  const service = serviceOf(given, tools);
  const text = unitText({ scope: service.scope, command: [...programs.self, "up"], home: home.dir });
  if (given.flag("print")) return ui.block(text);
  await mustRun(service, tools);
  await ownUnit(service);
  await mkdir(dirname(service.path), { recursive: true });
  await writeFileAtomic(service.path, text, 0o644);
  await must(service, ["daemon-reload"], tools);
  await must(service, ["enable", "--now", service.name], tools);
  const user = service.scope === "user";
  ui.line(`Installed ${service.path}. The Director starts now and with every ${user ? "log-in" : "boot"}.`);
  if (user) ui.line("For it to start at boot and to outlive the session: loginctl enable-linger");
  ui.line(
    `Its state is kept in ${home.dir}, its output in journalctl ${user ? "--user " : ""}-u ${service.name}`,
  );
}

export async function removeService(given: TypedInput, tools: Tools): Promise<void> {
  const service = serviceOf(given, tools);
  if ((await ownUnit(service)) === undefined) throw NotInstalled({ path: service.path });
  await must(service, ["disable", "--now", service.name], tools);
  await rm(service.path);
  await must(service, ["daemon-reload"], tools);
  tools.ui.line(`Stopped and removed ${service.path}. State and disks are kept in ${tools.home.dir}.`);
}

export async function showService(given: TypedInput, tools: Tools): Promise<void> {
  const service = serviceOf(given, tools);
  const installed = (await ownUnit(service)) !== undefined;
  const asked = async (question: string) =>
    installed ? (await systemctl(service, [question, service.name], tools)).said : "no";
  tools.ui.table({
    content: "",
    transpose: true,
    labeled: true,
    header: { unit: "Unit", installed: "Installed", enabled: "Enabled", active: "Active" },
    rows: [[service.path, installed ? "yes" : "no", await asked("is-enabled"), await asked("is-active")]],
  });
}
